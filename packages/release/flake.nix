{
  description = "@SUMMARY@";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      # The archives of the release and their checksums.
      archives = {
@NIX_ARCHIVES@
      };
      package = system: archive:
        let pkgs = nixpkgs.legacyPackages.${system};
        in pkgs.stdenvNoCC.mkDerivation {
          pname = "stockade";
          version = "@VERSION@";
          src = pkgs.fetchurl archive;
          dontBuild = true;
          # The programs are finished: stripping them would make them others than those of the release.
          dontFixup = true;
          installPhase = ''
            install -Dm755 -t $out/bin stockade
            for program in stockade-backend-*; do
              if [ -e "$program" ]; then install -Dm755 -t $out/bin "$program"; fi
            done
            install -Dm644 -t $out/share/man/man1 man/*.1
            install -Dm644 completions/stockade.bash $out/share/bash-completion/completions/stockade
            install -Dm644 -t $out/share/zsh/site-functions completions/_stockade
            install -Dm644 -t $out/share/fish/vendor_completions.d completions/stockade.fish
          '';
          meta = {
            description = "@SUMMARY@";
            homepage = "@REPOSITORY@";
            license = with pkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "stockade";
            platforms = builtins.attrNames archives;
          };
        };
    in
    {
      packages = builtins.mapAttrs (system: archive: { default = package system archive; }) archives;
    };
}

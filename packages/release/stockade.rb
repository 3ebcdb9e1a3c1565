class Stockade < Formula
  desc "@SUMMARY@"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

@FORMULA_ARCHIVES@

  def install
    bin.install "stockade"
    bin.install Dir["stockade-backend-*"]
    bash_completion.install "completions/stockade.bash" => "stockade"
    zsh_completion.install "completions/_stockade"
    fish_completion.install "completions/stockade.fish"
    man1.install Dir["man/*.1"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/stockade --version")
  end
end

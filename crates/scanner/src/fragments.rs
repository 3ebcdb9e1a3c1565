//! Named parts of patterns: `{shell}` in a pattern matches the names of shells.

/// The fragments, each with its expansion and meaning. A fragment may use those above it.
///
/// They are case-sensitive unless the pattern around them has `(?i)`, and none has a capturing group.
pub const FRAGMENTS: &[Fragment] = &[
    Fragment { name: "shell", meaning: "a Unix shell", pattern: r"(?:r?ba|z|m?k|da|a|tc|c|fi|ya)?sh(?:93)?" },
    Fragment {
        name: "interpreter",
        meaning: "a program that runs code from its standard input, shells included",
        pattern: r"(?:{shell}|python[0-9]{0,2}(?:\.[0-9]{1,3})?|pypy3?|perl|ruby|nodejs|node|deno|bun|tsx|php[0-9]?(?:\.[0-9]{1,2})?|luajit|lua|osascript|rscript|pwsh|powershell(?:\.exe)?)",
    },
    Fragment {
        name: "fetch",
        meaning: "a program that downloads to its standard output",
        pattern: r"(?:curl|wget|aria2c|lynx|xh|lwp-request)",
    },
    Fragment {
        name: "wrapper",
        meaning: "programs that run another program, with their options and assignments",
        pattern: r"(?:(?:/(?:[\w.+-]+/)*?)??(?:sudo|doas|env|exec|command|builtin|nohup|time|nice|ionice|setsid|stdbuf|unbuffer|timeout|xargs|parallel|busybox|toybox|chroot|unshare|fakeroot|pkexec|strace|script|su)(?:[ \t]+(?:[-0-9][\w=./-]*|\w+=[\w./:@,-]*|root))*?[ \t]+)",
    },
    Fragment {
        name: "run",
        meaning: "what may stand between a pipe and the name of the program that it feeds: a group, assignments, wrappers, a folder",
        pattern: r#"(?:[({][ \t]*){0,2}(?:\w+=[\w./:@,-]*[ \t]+)*?{wrapper}*?["'\\]?(?:[~.]{0,2}/(?:[\w.+-]+/)*?)?"#,
    },
    Fragment {
        name: "gap",
        meaning: "the rest of a command: no bar, semicolon or line end, unless a backslash continues the line",
        pattern: r"(?:[^\\\n|;]|\\(?:\r?\n|[^\r\n]))*?",
    },
    Fragment {
        name: "pipeline",
        meaning: "the same, with bars",
        pattern: r"(?:[^\\\n;]|\\(?:\r?\n|[^\r\n]))*?",
    },
    Fragment {
        name: "pipe",
        meaning: "a pipe, also in a table cell or on a continued line",
        pattern: r"\\?\|&?(?:[ \t]|\\?\r?\n)*",
    },
    Fragment {
        name: "idle",
        meaning: "quoting inside a word that a shell drops",
        pattern: r#"(?:\\(?:\r?\n)?|['"]{1,2}|\$[@*0-9]|\$\{(?:[@*]|\w{1,16})\})"#,
    },
    Fragment {
        name: "invisible",
        meaning: "an invisible character, except for the byte order mark and the variation selectors of emoji",
        pattern: r"(?:[\x00-\x08\x0B\x0C\x0E-\x1F\x7F]|\xC2[\x80-\x9F\xAD]|\xCD\x8F|\xD8\x9C|\xE1(?:\x85[\x9F\xA0]|\x9E[\xB4\xB5]|\xA0[\x8B-\x8F])|\xE2(?:\x80[\x8B-\x8F\xAA-\xAE]|\x81[\xA0-\xAF]|\xA0\x80)|\xE3\x85\xA4|\xEF(?:\xB7[\x90-\xAF]|\xBE\xA0|\xBF[\xB0-\xBC\xBE\xBF])|\xF0(?:\x93\x91[\x81\x82]|\x96\xBF\xA4|\x9B\xB2[\xA0-\xA3]|\x9D\x85[\x99\xB3-\xBA])|\xF3\xA0[\x80-\xBF][\x80-\xBF]|[\xF0-\xF4][\x8F\x9F\xAF\xBF]\xBF[\xBE\xBF])",
    },
    Fragment {
        name: "other-space",
        meaning: "a space or line end beyond ASCII, such as one that does not break",
        pattern: r"(?:\xC2\xA0|\xE1\x9A\x80|\xE2\x80[\x80-\x8A\xA8\xA9\xAF]|\xE2\x81\x9F|\xE3\x80\x80)",
    },
    Fragment {
        name: "letter-form",
        meaning: "another form of ASCII letters, such as a circled one, but for full-width and mathematical ones",
        pattern: r"(?:\xC2[\xAA\xBA]|\xC4[\xB2\xB3]|\xC5\xBF|\xC7[\x87-\x8C\xB1-\xB3]|\xCA[\xB0\xB2\xB3\xB7\xB8]|\xCB[\xA1-\xA3]|\xE1(?:\xB4[\x80-\xBF]|\xB5[\x80-\xA5]|\xB6[\x9C\xA0\xBB])|\xE2(?:\x81[\xB1\xBF]|\x82[\x90-\x9F\xA8]|\x84[\x82-\xBB]|\x85[\x85-\x89\xA0-\xBF]|\x92[\xB6-\xBF]|\x93[\x80-\xA9]|\xB1[\xBC\xBD])|\xE3(?:\x89\x90|\x8B[\x8C-\x8F]|[\x8D-\x8F][\x80-\xBF])|\xEA\x9F[\xB1-\xB4]|\xEF\xAC[\x80-\x86]|\xF0(?:\x90\x9E\xA5|\x9C\xB3[\x96-\xAF]|\x9F(?:\x84[\xAB-\xBF]|\x85[\x80-\x8F\xAA-\xAC]|\x86\x90)))",
    },
    Fragment {
        name: "digit-form",
        meaning: "another form of ASCII digits, but for mathematical ones",
        pattern: r"(?:\xC2[\xB2\xB3\xB9]|\xE2(?:\x81[\xB0\xB4-\xB9]|\x82[\x80-\x89]|\x91[\xA0-\xB3]|\x93\xAA)|\xE3(?:\x89[\x91-\x9F]|\x8A[\xB1-\xBF])|\xEF\xBC[\x90-\x99]|\xF0(?:\x9C\xB3[\xB0-\xB9]|\x9F\xAF[\xB0-\xB9]))",
    },
    Fragment {
        name: "common-sign-form",
        meaning: "a full-width sign common in Chinese and Japanese texts",
        pattern: r"(?:\xEF(?:\xBC[\x81\x88\x89\x8C\x8F\x9A\x9B\x9F]|\xBD\x9E))",
    },
    Fragment {
        name: "sign-form",
        meaning: "another form of an ASCII sign",
        pattern: r"(?:\xCD\xBE|\xE1\xBF\xAF|\xE2(?:\x80\xA4|\x81[\xBA\xBC-\xBE]|\x82[\x8A\x8C-\x8E])|\xEF(?:\xAC\xA9|\xB8[\x90-\x99\xB0-\xBF]|\xB9[\x80-\xAB]|\xBC[\x82-\x87\x8A\x8B\x8D\x8E\x9C-\x9E\xA0\xBB-\xBF]|\xBD[\x80\x9B-\x9D]))",
    },
    Fragment {
        name: "vendors",
        meaning: "accounts of vendors at code hosts, in small letters",
        pattern: r"actions|anchore|anthropics|apache|apple|aquasecurity|argoproj|astral-sh|aws|aws-samples|awslabs|azure|azure-samples|bazelbuild|bufbuild|cli|cloudflare|databricks|datadog|denoland|docker|dotnet|elastic|expo|facebook|getsentry|github|golang|google|google-gemini|googleapis|googlecloudplatform|grafana|hashicorp|helm|homebrew|huggingface|istio|jetbrains|kubernetes|kubernetes-sigs|llvm|microsoft|moby|modelcontextprotocol|mongodb|netlify|nodejs|nvidia|nvidia-ai-blueprints|nvidia-holoscan|nvidia-medtech|nvidia-nemo|nvlabs|openai|oven-sh|powershell|prometheus|pulumi|pypa|python|pytorch|redis|rust-lang|shopify|sigstore|stripe|supabase|tensorflow|vercel|vercel-labs",
    },
    Fragment {
        name: "installer-hosts",
        meaning: "hosts, with a folder where the host serves more than its installer, of well-known installers",
        pattern: r"astral\.sh/(?:uv|ruff)|sh\.rustup\.rs|bun\.(?:sh|com)/install|(?:get\.)?deno\.(?:land/install\.sh|com)|get\.docker\.com|get\.pnpm\.io|fnm\.vercel\.app|install\.python-poetry\.org|mise\.(?:run|jdx\.dev)|starship\.rs/install\.sh|ollama\.(?:com|ai)/install\.sh|tailscale\.com/install\.sh|get\.helm\.sh|deb\.nodesource\.com|rpm\.nodesource\.com|cli\.github\.com|get\.sdkman\.io|pyenv\.run|pixi\.sh|fly\.io/install\.sh|get\.k3s\.io|claude\.ai/install\.sh|aka\.ms/InstallAzureCLIDeb|packages\.microsoft\.com|nixos\.org/nix/install|install\.determinate\.systems|get\.volta\.sh|foundry\.paradigm\.xyz|sdk\.cloud\.google\.com|get\.pulumi\.com|cursor\.com/install|opencode\.ai/install|cli\.tavily\.com/install\.sh|fluxcd\.io/install\.sh|run\.linkerd\.io/install|rover\.apollo\.dev/(?:nix|win)|antigravity\.google/cli|istio\.io/downloadIstio|dl\.dagger\.io/dagger|cli\.doppler\.com/install\.sh|sentry\.io/get-cli|temporal\.download/cli\.sh|get-ghcup\.haskell\.org|sh\.vector\.dev|install\.duckdb\.org|install\.meilisearch\.com|code-server\.dev/install\.sh|setup\.atuin\.sh|opam\.ocaml\.org/install\.sh|wasmtime\.dev/install\.sh|railway\.(?:app|com)/install\.sh|zed\.dev/install\.sh|sst\.dev/install|encore\.dev/install\.sh|aider\.chat/install\.sh|community\.chocolatey\.org/install\.ps1|get\.scoop\.sh|dl\.cloudsmith\.io/public/(?:caddy|infisical|isc|mull-project|rabbitmq|task|teleport)|packagecloud\.io/install/repositories/(?:github|netdata|rabbitmq|timescale)|gh\.io/copilot-install|cli\.inference\.sh|release\.anza\.xyz|get\.tur\.so/install\.sh|install\.julialang\.org|get\.wasmer\.io|get\.haskellstack\.org|app\.factory\.ai/cli|ampcode\.com/install\.sh|coder\.com/install\.sh|moonrepo\.dev/install|get\.jetify\.com/devbox|cli\.coderabbit\.ai/install\.sh|sh\.starkup\.dev|internetcomputer\.org/install\.sh|get\.k0s\.sh|dot\.net/v1/dotnet-install\.sh",
    },
    Fragment {
        name: "installer-repositories",
        meaning: "repositories that hold a well-known installer",
        pattern: r"nvm-sh/nvm|Homebrew/install|ohmyzsh/ohmyzsh|helm/helm|pyenv/pyenv-installer|aquasecurity/trivy|anchore/(?:syft|grype)|golangci/golangci-lint|junegunn/fzf|k3d-io/k3d|kubernetes-sigs/[\w-]+|rustwasm/wasm-pack|ajeetdsouza/zoxide|rbenv/rbenv-installer|asdf-vm/asdf|leanprover/elan|trufflesecurity/trufflehog|jesseduffield/\w+|nektos/act|securego/gosec|rancher/k3d|block/goose|ScoopInstaller/Install|brevdev/brev-cli|exploreomni/cli",
    },
    Fragment {
        name: "installer",
        meaning: "the address of a vendor's installer that the vendor itself tells people to pipe into a shell",
        pattern: r#"["']?https://(?:{installer-hosts}|raw\.githubusercontent\.com/(?:{installer-repositories}))(?:/(?:[\w@~+-][\w.@~+-]*/?)*)?["']?"#,
    },
    Fragment {
        name: "fetch-options",
        meaning: "options of a download that change neither where it comes from nor where it goes",
        pattern: r"(?:(?:[ \t]|\\\r?\n)+(?:-[fsSLlvgqn01246]+[Oo]?-?|-[Oo][ \t]*-|--[a-z][a-z0-9.-]*|[\x22']?=https[\x22']?))*",
    },
    Fragment {
        name: "defanged",
        meaning: "an address that was made harmless on purpose, as reports on attacks do",
        pattern: r"[\x22']?(?:hxxps?:[^\s|]*|(?:https?://)?[\w-]+(?:\.[\w-]+)*\[\.\][^\s|]*)[\x22']?",
    },
    Fragment {
        name: "local-address",
        meaning: "an address on the machine itself",
        pattern: r"(?:https?://)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?::[0-9]{1,5})?(?:/[^\s`;&|@]*)?",
    },
    Fragment {
        name: "word-without-address",
        meaning: "a word of a command that names no host and ends no command",
        pattern: r"(?:[ \t]+[^\s`;&|:./]+)",
    },
    Fragment {
        name: "told-not-to",
        meaning: "the end of a clause that forbids what follows it: the negation governs the verb, and no condition stands before it",
        pattern: r"(?i:(?:(?:^|[.!?:;(*_>|-])[ \t*_]*(?:please[ \t]+|you[ \t]+)?(?:never|do[ \t]+not|don.{1,3}t|avoid)|\b(?:must|should|may|can|shall)(?:[ \t]*not|n.{1,3}t|[ \t]+never)|\b(?:instead[ \t]+of|rather[ \t]+than))(?:[ \t]+(?:ever|blindly|directly|manually|attempt[ \t]+to|try[ \t]+to))?[ \t*_]*)",
    },
    Fragment {
        name: "sink",
        meaning: "a program that stores, encodes or sends what it reads",
        pattern: r"(?:sort|tee|cat|dd|od|split|sponge|paste|curl|wget|https?|nc|ncat|netcat|socat|telnet|ssh|mail|sendmail|base64|base32|xxd|hexdump|openssl|gpg|gzip|bzip2|xz|zstd|tr|rev|jq|python[0-9]?|perl|ruby|node|xargs|while|pbcopy|xclip)",
    },
    Fragment {
        name: "decoder",
        meaning: "a command that decodes what it reads, with the option that makes it decode",
        pattern: r"(?:g?base64|base32|basenc|openssl[ \t]+(?:base64|enc))[ \t](?:[^\n|;]*?[ \t])??(?:-[a-zA-Z]{0,4}[dD][a-zA-Z]{0,4}|--decode)\b",
    },
    Fragment {
        name: "between",
        meaning: "what separates two words of prose: blanks, a line end, cells of a table, marks of emphasis, quotes and lists",
        pattern: r"(?:[ \t]{1,8}|[ \t]{0,8}[*_~|]{1,3}[ \t*_~|]{0,8}|[ \t*_~|]{0,8}\r?\n[ \t*_~|>#-]{0,16})",
    },
    Fragment {
        name: "then",
        meaning: "what separates one command from the next",
        pattern: r"[ \t]*(?:&&|;|\|\||\r?\n)[ \t\r\n]*",
    },
];

/// A named part of a pattern.
#[derive(Debug, Clone, Copy)]
pub struct Fragment {
    /// The name, written `{name}` in a pattern.
    pub name: &'static str,
    /// What it matches.
    pub meaning: &'static str,
    /// Its regular expression, which may use other fragments.
    pub pattern: &'static str,
}

/// Replaces every `{name}` in `pattern` by its fragment; an unknown name is the error.
///
/// Repetitions (`{2,5}`), escaped braces (`\{`) and braces of escapes (`\x{41}`) are left alone.
pub(crate) fn expand(pattern: &str) -> Result<String, &str> {
    let mut out = String::with_capacity(pattern.len() * 2);
    expand_into(pattern, &mut out)?;
    Ok(out)
}

/// Terminates because a fragment only uses fragments above it, which a test checks.
fn expand_into<'p>(pattern: &'p str, out: &mut String) -> Result<(), &'p str> {
    let mut rest = pattern;
    while let Some(at) = rest.find(['\\', '{']) {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        rest = match after.strip_prefix('{') {
            Some(inside) => expand_brace(inside, out)?,
            None => copy_escape(after, out),
        };
    }
    out.push_str(rest);
    Ok(())
}

/// Returns the alternatives of a fragment that is a list of words.
pub(crate) fn words(name: &str) -> impl Iterator<Item = &'static str> {
    let fragment = FRAGMENTS.iter().find(|fragment| fragment.name == name);
    fragment.into_iter().flat_map(|fragment| fragment.pattern.split('|'))
}

/// Handles the text behind a `{` and returns the rest.
fn expand_brace<'p>(inside: &'p str, out: &mut String) -> Result<&'p str, &'p str> {
    let is_name = inside.starts_with(|first: char| first.is_ascii_alphabetic());
    let (true, Some((name, rest))) = (is_name, inside.split_once('}')) else {
        out.push('{');
        return Ok(inside);
    };
    let fragment = FRAGMENTS.iter().find(|fragment| fragment.name == name).ok_or(name)?;
    expand_into(fragment.pattern, out)?;
    Ok(rest)
}

/// Copies an escape such as `\{`, `\x{41}` or `\pL` and returns the rest.
fn copy_escape<'p>(escape: &'p str, out: &mut String) -> &'p str {
    let mut chars = escape.chars();
    out.extend(chars.next());
    let letter = chars.next();
    out.extend(letter);
    let rest = chars.as_str();
    match (letter, rest.find('}')) {
        (Some('x' | 'u' | 'U' | 'p' | 'P'), Some(close)) if rest.starts_with('{') => {
            let (braces, rest) = rest.split_at(close + 1);
            out.push_str(braces);
            rest
        }
        _ => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_use_only_those_above_them() {
        for (index, fragment) in FRAGMENTS.iter().enumerate() {
            for later in &FRAGMENTS[index..] {
                assert!(
                    !fragment.pattern.contains(&format!("{{{}}}", later.name)),
                    "{} uses {}",
                    fragment.name,
                    later.name
                );
            }
            assert!(expand(fragment.pattern).is_ok(), "{}", fragment.name);
        }
    }

    #[test]
    fn braces_that_are_not_names_stay() {
        for same in [r"a{2,5}", r"\{shell}", r"\x{41}", r"[{]", r"a\\", r"\", "{", "{shell"] {
            assert_eq!(expand(same).as_deref(), Ok(same));
        }
        assert_eq!(expand(r"x{2}{shell}$").as_deref(), Ok(r"x{2}(?:r?ba|z|m?k|da|a|tc|c|fi|ya)?sh(?:93)?$"));
        assert_eq!(expand("{shel}"), Err("shel"));
    }
}

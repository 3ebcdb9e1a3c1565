use crate::rule::{Category, Exception, Pattern, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "CRYPTO_MINER_BINARY",
    category: Category::CryptoMining,
    severity: Severity::Critical,
    summary: "Known cryptocurrency miner binary",
    remedy: "Remove the miner.",
    patterns: &[
        Pattern {
            note: "names that nothing else has",
            regex: r"(?i)\b(?:xmrig\w{0,16}|xmr-?stak|cgminer|bfgminer|ethminer|nbminer|phoenixminer|ccminer|minerd|lolminer|srbminer|teamredminer|cpuminer|gminer|nanominer|nheqminer|sgminer|wildrig|kawpowminer|claymore-?miner|miniz-?miner|bzminer|rigel-?miner|onezerominer|xmr-node-proxy|cryptodredge|z-?enemy|progpowminer|moneroocean-?miner|teamblackminer|verusminer|hellminer|astrominer|kdevtmpfsi)\b",
            regions: Regions::ANY,
            // One of a list of names, as in the pattern of a scanner: piping one miner into another makes no sense.
            exceptions: &[
                Exception::After(
                    r"(?i)^\\?\|(?:xmrig|ethminer|minerd|c(?:pu|g|c)miner|bfgminer|nbminer|cryptonight|coinhive|stratum\\+)",
                ),
                Exception::Before(
                    r"(?i)(?:xmrig|ethminer|minerd|c(?:pu|g|c)miner|bfgminer|nbminer|cryptonight|coinhive|stratum\\+)[\w-]*\\?\|$",
                ),
            ],
        },
        Pattern {
            note: "T-Rex, which is also a dinosaur, with a miner's options or coins",
            regex: r"(?i)\bt-rex(?:\.exe)?\b[^\n]*?(?:[ \t]-a[ \t]|--algo|[ \t]-o[ \t]|\b(?:ethash|kawpow|autolykos2?|octopus|firopow|etchash|miner|mining|pool|stratum)\b)",
            regions: Regions::ANY,
            exceptions: &[Exception::Match(
                r"(?i)\At-rex[^-\n]*\b(?:dinosaur|fossil|jurassic|cretaceous|tyrannosaur)[^-\n]*\z",
            )],
        },
    ],
    matches: &[
        "xmrig",
        "./ccminer -o x",
        "./xmr-stak-cpu",
        "SRBMiner-MULTI --algorithm",
        "lolMiner",
        "./t-rex -a ethash -o pool:4444",
        "./cpuminer-opt -o x",
        "./xmrig_linux",
        "XMRigCC",
        "./hellminer -c pool",
        "./t-rex -w dinosaur -a kawpow -o pool:4444",
    ],
    clean: &[
        "T-Rex dinosaurs lived",
        "my_xmrig",
        "/xmrig|minerd|cpuminer|stratum\\+tcp/i",
        "a data miner",
        "prospector",
    ],
};

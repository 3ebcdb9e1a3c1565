//! Mining on somebody else's machine.

use crate::rule::{Category, Regions, Rule, Severity, Shape, Unless};

pub(super) const RULES: &[Rule<'static>] = &[CRYPTO_STRATUM, CRYPTO_MINER_BINARY, CRYPTO_POOL_DOMAIN];

const CRYPTO_STRATUM: Rule<'static> = Rule {
    id: "CRYPTO_STRATUM",
    category: Category::CryptoMining,
    severity: Severity::Critical,
    summary: "Mining pool protocol (stratum://)",
    remedy: "Remove the address of the mining pool.",
    shapes: &[Shape {
        note: "the protocol with any version and transport",
        pattern: r"(?i)\bstratum[0-9]?(?:\+[a-z0-9]{0,8})?://",
        regions: Regions::ANY,
        unless: &[],
    }],
    matches: &[
        "stratum://pool.example:3333",
        "stratum+tcp://p",
        "STRATUM+SSL://p",
        "stratum2+tcp://pool:3333",
        "stratum+tls://pool:3333",
    ],
    clean: &["the stratum of rock", "strata://x", "a stratum + tcp"],
};

const CRYPTO_MINER_BINARY: Rule<'static> = Rule {
    id: "CRYPTO_MINER_BINARY",
    category: Category::CryptoMining,
    severity: Severity::Critical,
    summary: "Known cryptocurrency miner binary",
    remedy: "Remove the miner.",
    shapes: &[
        Shape {
            note: "names that nothing else has",
            pattern: r"(?i)\b(?:xmrig|xmr-?stak|cgminer|bfgminer|ethminer|nbminer|phoenixminer|ccminer|minerd|lolminer|srbminer|teamredminer|cpuminer|gminer|nanominer|nheqminer|sgminer|wildrig|kawpowminer|claymore-?miner|miniz-?miner|bzminer|rigel-?miner|onezerominer|xmr-node-proxy|cryptodredge|z-?enemy|progpowminer|moneroocean-?miner)\b",
            regions: Regions::ANY,
            unless: &[],
        },
        Shape {
            note: "T-Rex, which is also a dinosaur, with a miner's options or coins",
            pattern: r"(?i)\bt-rex(?:\.exe)?\b[^\n]*?(?:[ \t]-a[ \t]|--algo|[ \t]-o[ \t]|\b(?:ethash|kawpow|autolykos2?|octopus|firopow|etchash|miner|mining|pool|stratum)\b)",
            regions: Regions::ANY,
            unless: &[Unless::Match(r"(?i)\bdinosaur|\bfossil|\bjurassic|\bcretaceous|\btyrannosaur")],
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
    ],
    clean: &["T-Rex dinosaurs lived", "my_xmrig", "a data miner", "prospector"],
};

/// Hosts of pools that carry neither `pool.` nor `mining.` in front.
const KNOWN_POOLS: &str = r"(?i)\b(?:nanopool\.org|moneroocean\.stream|supportxmr\.com|2miners\.com|f2pool\.com|nicehash\.com|minexmr\.com|hashvault\.pro|ethermine\.org|flypool\.org|sparkpool\.com|antpool\.com|viabtc\.com|poolin\.com|slushpool\.com|braiins\.com|unmineable\.com|herominers\.com|miningpoolhub\.com|c3pool\.(?:com|org)|xmrpool\.(?:eu|net)|minergate\.com|monerohash\.com|dwarfpool\.com|zpool\.ca|ezil\.me|flexpool\.io|hiveon\.(?:net|com)|luxor\.tech|woolypooly\.com|kryptex\.(?:network|com)|prohashing\.com|suprnova\.cc|coinhive\.com|crypto-?pool\.fr|p2pool\.io|gntl\.(?:uk|co\.uk)|xmr\.pt|moneropool\.com|skypool\.org|auroramine\.com)\b";

const CRYPTO_POOL_DOMAIN: Rule<'static> = Rule {
    id: "CRYPTO_POOL_DOMAIN",
    category: Category::CryptoMining,
    severity: Severity::Warn,
    summary: "Mining pool domain pattern",
    remedy: "Remove the address of the mining pool.",
    shapes: &[
        Shape {
            note: "a host named after what it does",
            pattern: r"(?i)\b(?:mining|pool|hashrate)\.(?:[a-z0-9-]{2,40}\.){1,3}(?:com|org|net|io|pro|eu|cc|xyz|me|info|biz|ru|cn|to|pl|us|co|uk|fr|de|ca|in|tv|tech|site|online|stream|network|app|dev|example)\b",
            regions: Regions::ANY,
            unless: &[
                Unless::Match(r"(?i)\bntp\.org"),
                // A program's own pool of connections: `this.pool.query.io(`.
                Unless::Before(
                    r"(?:\b(?:this|self|db|client|connection|thread|process|pg|mysql|ctx|app|server|conn)|[)\]])\.$",
                ),
                Unless::After(r"^(?:\(|\.[a-z]+\()"),
            ],
        },
        Shape {
            note: "a known pool",
            pattern: KNOWN_POOLS,
            regions: Regions::ANY,
            unless: &[Unless::Before(r"@$")],
        },
    ],
    matches: &[
        "mining.foo.org",
        "xmr.pool.minergate.com",
        "eu1.nanopool.org",
        "gulf.moneroocean.stream:10128",
        "pool.supportxmr.com:443",
        "etc.2miners.com",
    ],
    clean: &[
        "server 0.pool.ntp.org iburst",
        "this.pool.query.bind(x)",
        "thread_pool.map.join",
        "pool.acquire.timeout",
        "await pool.query.run()",
    ],
};

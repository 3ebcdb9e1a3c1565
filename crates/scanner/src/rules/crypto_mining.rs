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
        pattern: r"(?i)\b(?:(?:eth)?stratum|ethproxy)[0-9]?(?:(?:\+|%2b)[a-z0-9]{0,8})?(?::|%3a)(?:(?:\\?/){2}|%2f%2f)",
        regions: Regions::ANY,
        unless: &[],
    }],
    matches: &[
        "stratum://pool.example:3333",
        "stratum+tcp://p",
        "STRATUM+SSL://p",
        "stratum2+tcp://pool:3333",
        "stratum+tls://pool:3333",
        "\"stratum+tcp:\\/\\/pool:3333\"",
        "stratum%2Btcp%3A%2F%2Fpool",
        "ethproxy+tcp://pool:3333",
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
            pattern: r"(?i)\b(?:xmrig\w{0,16}|xmr-?stak|cgminer|bfgminer|ethminer|nbminer|phoenixminer|ccminer|minerd|lolminer|srbminer|teamredminer|cpuminer|gminer|nanominer|nheqminer|sgminer|wildrig|kawpowminer|claymore-?miner|miniz-?miner|bzminer|rigel-?miner|onezerominer|xmr-node-proxy|cryptodredge|z-?enemy|progpowminer|moneroocean-?miner|teamblackminer|verusminer|hellminer|astrominer|kdevtmpfsi)\b",
            regions: Regions::ANY,
            // One of a list of names, as in the pattern of a scanner: nobody pipes one miner into another.
            unless: &[
                Unless::After(
                    r"(?i)^\\?\|(?:xmrig|ethminer|minerd|c(?:pu|g|c)miner|bfgminer|nbminer|cryptonight|coinhive|stratum\\+)",
                ),
                Unless::Before(
                    r"(?i)(?:xmrig|ethminer|minerd|c(?:pu|g|c)miner|bfgminer|nbminer|cryptonight|coinhive|stratum\\+)[\w-]*\\?\|$",
                ),
            ],
        },
        Shape {
            note: "T-Rex, which is also a dinosaur, with a miner's options or coins",
            pattern: r"(?i)\bt-rex(?:\.exe)?\b[^\n]*?(?:[ \t]-a[ \t]|--algo|[ \t]-o[ \t]|\b(?:ethash|kawpow|autolykos2?|octopus|firopow|etchash|miner|mining|pool|stratum)\b)",
            regions: Regions::ANY,
            unless: &[Unless::Match(
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

/// Hosts of pools that carry neither `pool.` nor `mining.` in front.
const KNOWN_POOLS: &str = r"(?i)\b(?:nanopool\.org|moneroocean\.stream|supportxmr\.com|2miners\.com|f2pool\.com|nicehash\.com|minexmr\.com|hashvault\.pro|ethermine\.org|flypool\.org|sparkpool\.com|antpool\.com|viabtc\.com|poolin\.com|slushpool\.com|braiins\.com|unmineable\.com|herominers\.com|miningpoolhub\.com|c3pool\.(?:com|org)|xmrpool\.(?:eu|net)|minergate\.com|monerohash\.com|dwarfpool\.com|zpool\.ca|ezil\.me|flexpool\.io|hiveon\.(?:net|com)|luxor\.tech|woolypooly\.com|kryptex\.(?:network|com)|prohashing\.com|suprnova\.cc|coinhive\.com|crypto-?pool\.fr|p2pool\.io|gntl\.(?:uk|co\.uk)|xmr\.pt|moneropool\.com|skypool\.org|auroramine\.com|rplant\.xyz|miner\.rocks)\b";

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
                Unless::Match(r"(?i)\bntp\.org\z"),
                // A program's own pool of connections: `this.pool.query.io(`.
                Unless::Before(r"(?:\b(?:this|self)|[)\]])\.$"),
                Unless::After(r"^(?:\(|\.[a-z]+\()"),
            ],
        },
        Shape {
            note: "a known pool",
            pattern: KNOWN_POOLS,
            regions: Regions::ANY,
            // The address of a person there, unless it is the user of a URL.
            unless: &[Unless::Before(r"(?:^|[\s<(:,])[\w.+-]{1,64}@$")],
        },
    ],
    matches: &[
        "mining.foo.org",
        "xmr.pool.minergate.com",
        "eu1.nanopool.org",
        "gulf.moneroocean.stream:10128",
        "pool.supportxmr.com:443",
        "etc.2miners.com",
        "server.pool.e-miner.com",
        "pool.ntp.org.e-miner.com",
        "http://x@nanopool.org/",
        "stratum-eu.rplant.xyz:7022",
    ],
    clean: &[
        "server 0.pool.ntp.org iburst",
        "this.pool.query.bind(x)",
        "thread_pool.map.join",
        "pool.acquire.timeout",
        "await pool.query.run()",
    ],
};

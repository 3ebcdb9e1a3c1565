use crate::rule::{Category, Exception, Pattern, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "CRYPTO_POOL_DOMAIN",
    category: Category::CryptoMining,
    severity: Severity::Warn,
    summary: "Mining pool domain pattern",
    remedy: "Remove the address of the mining pool.",
    patterns: &[
        Pattern {
            note: "a host named after what it does",
            regex: r"(?i)\b(?:mining|pool|hashrate)\.(?:[a-z0-9-]{2,40}\.){1,3}(?:com|org|net|io|pro|eu|cc|xyz|me|info|biz|ru|cn|to|pl|us|co|uk|fr|de|ca|in|tv|tech|site|online|stream|network|app|dev|example)\b",
            regions: Regions::ANY,
            exceptions: &[
                Exception::Match(r"(?i)\bntp\.org\z"),
                // A program's own pool of connections: `this.pool.query.io(`.
                Exception::Before(r"(?:\b(?:this|self)|[)\]])\.$"),
                Exception::After(r"^(?:\(|\.[a-z]+\()"),
            ],
        },
        Pattern {
            note: "a known pool",
            regex: KNOWN_POOLS,
            regions: Regions::ANY,
            // The address of a person there, unless it is the user of a URL.
            exceptions: &[Exception::Before(r"(?:^|[\s<(:,])[\w.+-]{1,64}@$")],
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

/// Hosts of pools that carry neither `pool.` nor `mining.` in front.
const KNOWN_POOLS: &str = r"(?i)\b(?:nanopool\.org|moneroocean\.stream|supportxmr\.com|2miners\.com|f2pool\.com|nicehash\.com|minexmr\.com|hashvault\.pro|ethermine\.org|flypool\.org|sparkpool\.com|antpool\.com|viabtc\.com|poolin\.com|slushpool\.com|braiins\.com|unmineable\.com|herominers\.com|miningpoolhub\.com|c3pool\.(?:com|org)|xmrpool\.(?:eu|net)|minergate\.com|monerohash\.com|dwarfpool\.com|zpool\.ca|ezil\.me|flexpool\.io|hiveon\.(?:net|com)|luxor\.tech|woolypooly\.com|kryptex\.(?:network|com)|prohashing\.com|suprnova\.cc|coinhive\.com|crypto-?pool\.fr|p2pool\.io|gntl\.(?:uk|co\.uk)|xmr\.pt|moneropool\.com|skypool\.org|auroramine\.com|rplant\.xyz|miner\.rocks)\b";

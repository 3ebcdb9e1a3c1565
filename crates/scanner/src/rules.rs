//! The built-in rules, one file for each family.

mod crypto_mining;
mod env_harvesting;
mod exec_injection;
mod network_exfiltration;
mod obfuscated_encoding;
mod xml_breakout;

use crate::rule::Rule;

/// Every family, in the order of reports. A rule's number follows from it, and rules are listed in it.
pub(crate) const FAMILIES: [&[Rule<'static>]; 6] = [
    exec_injection::RULES,
    env_harvesting::RULES,
    crypto_mining::RULES,
    network_exfiltration::RULES,
    obfuscated_encoding::RULES,
    xml_breakout::RULES,
];

/// Returns every built-in rule in table order.
pub(crate) fn all() -> impl Iterator<Item = &'static Rule<'static>> {
    static TABLE: [&[Rule<'static>]; 6] = FAMILIES;
    TABLE.iter().copied().flatten()
}

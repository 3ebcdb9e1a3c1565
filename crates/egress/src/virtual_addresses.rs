//! Virtual addresses in a sandbox: one for each host name, assigned when the name is first looked up.
//!
//! They are addresses that no network routes (RFC 2544), so a connection to one can only come from a lookup in this sandbox.

use std::collections::HashMap;
use std::net::Ipv4Addr;

/// The range of virtual addresses: the first address and the prefix length.
pub(super) const ALL: (Ipv4Addr, u8) = (Ipv4Addr::new(198, 18, 0, 0), 15);

/// Maximum number of names.
const MAX_NAMES: usize = 8_192;

/// Names and their virtual addresses.
#[derive(Debug, Default)]
pub(super) struct VirtualAddresses {
    numbers: HashMap<String, u32>,
    names: Vec<String>,
}

impl VirtualAddresses {
    /// Returns the address of a name, or `None` when all addresses are assigned.
    pub(super) fn address_of(&mut self, name: &str) -> Option<Ipv4Addr> {
        if let Some(number) = self.numbers.get(name) {
            return Some(address(*number));
        }
        let number = u32::try_from(self.names.len()).ok().filter(|_| self.names.len() < MAX_NAMES)?;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        Some(address(number))
    }

    /// Returns the name of an address.
    pub(super) fn name_of(&self, address: Ipv4Addr) -> Option<&str> {
        let number = u32::from(address).checked_sub(u32::from(ALL.0))?.checked_sub(1)?;
        self.names.get(usize::try_from(number).ok()?).map(String::as_str)
    }

    /// Returns whether an address is in the range.
    pub(super) fn is_one(address: Ipv4Addr) -> bool {
        let shift = 32 - u32::from(ALL.1);
        u32::from(address) >> shift == u32::from(ALL.0) >> shift
    }
}

/// The first address of the block is never assigned.
fn address(number: u32) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(ALL.0) + number + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_address_and_an_address_one_name() {
        let mut virtual_addresses = VirtualAddresses::default();
        let first = virtual_addresses.address_of("a.example").unwrap();
        let second = virtual_addresses.address_of("b.example").unwrap();
        assert_ne!(first, second);
        assert_eq!(virtual_addresses.address_of("a.example"), Some(first));
        assert_eq!(
            (virtual_addresses.name_of(first), virtual_addresses.name_of(second)),
            (Some("a.example"), Some("b.example"))
        );
        for other in
            ["198.18.0.0", "198.18.0.3", "198.17.255.255", "198.20.0.1", "0.0.0.0", "255.255.255.255"]
        {
            assert_eq!(virtual_addresses.name_of(other.parse().unwrap()), None, "{other}");
        }
    }

    #[test]
    fn there_is_an_end_to_them() {
        let mut virtual_addresses = VirtualAddresses::default();
        for number in 0..MAX_NAMES {
            let address = virtual_addresses.address_of(&format!("{number}.example")).unwrap();
            assert!(VirtualAddresses::is_one(address));
        }
        assert_eq!(virtual_addresses.address_of("one-more.example"), None);
        assert!(virtual_addresses.address_of("0.example").is_some());
        assert!(
            !VirtualAddresses::is_one([198, 20, 0, 0].into())
                && !VirtualAddresses::is_one([198, 17, 0, 0].into())
        );
    }
}

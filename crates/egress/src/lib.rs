//! An egress proxy for sandboxed commands: it allows the hosts of a list and injects secrets into requests.
//!
//! [`HostList`] and [`NetPolicy`] decide which hosts a command may reach, without resolving names. A program that connects on
//! behalf of a command must resolve the name, check every resulting address with [`AddressKind::of`], and connect to one of the
//! checked addresses.
//!
//! On Linux, a `Broker` is such a proxy. It accepts connections on sockets that sandboxes pass to it ([`stockade_handoff`]),
//! checks each request, inspects TLS where a list or a secret requires it, and replaces placeholders with `Secrets` that the
//! command never sees.
//!
//! ```
//! use stockade_egress::{HostList, NetPolicy, NetTarget};
//!
//! let policy = NetPolicy::Hosts(HostList::compile(&["*.example.com:443".into()])?);
//! let asked = |text: &str| NetTarget::parse(text).map(|target| policy.decide(&target).is_allowed());
//!
//! assert_eq!(asked("https://api.example.com/v1"), Ok(true));
//! assert_eq!(asked("api.example.com.evil.test:443"), Ok(false));
//! assert_eq!(asked("http://169.254.169.254/latest/meta-data/"), Ok(false));
//! assert!(asked("http://2852039166/").is_err(), "an address in a spelling that hides it");
//! # Ok::<(), stockade_egress::HostListError>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, unused_imports, reason = "elsewhere hosts are judged and nothing is connected to")
)]

#[cfg(all(doctest, target_os = "linux"))]
#[doc = include_str!("../README.md")]
struct Readme;

mod address;
#[cfg(target_os = "linux")]
mod broker;
#[cfg(target_os = "linux")]
mod broker_handshake;
mod broker_hostname;
mod chunked;
mod client_hello;
mod conditions;
mod header_table;
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "the broker asks for it, and runs on Linux"))]
mod host_list;
mod ipv4_spelling;
#[cfg(target_os = "linux")]
mod listening;
#[cfg(target_os = "linux")]
mod login_bindings;
mod match_conditions;
mod name_query;
#[cfg(target_os = "linux")]
mod observed_hosts;
mod operations;
mod path_glob;
mod policy;
#[cfg(target_os = "linux")]
mod protocol_sniff;
mod proxy_request;
mod proxy_token;
mod punycode;
mod query_names;
mod refusal_texts;
mod request_stream;
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "the broker asks for it, and runs on Linux"))]
mod secret_binding;
mod secret_checks;
#[cfg(target_os = "linux")]
mod secrets;
#[cfg(target_os = "linux")]
mod socks;
mod special_domains;
#[cfg(target_os = "linux")]
mod suggest_entry;
mod target;
#[cfg(target_os = "linux")]
mod upstream_proxy;
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "the broker asks for it, and runs on Linux"))]
mod virtual_addresses;
#[cfg(target_os = "linux")]
mod websocket_frames;

pub use address::AddressKind;
#[cfg(target_os = "linux")]
pub use broker::{
    Broker, BrokerGate, BrokerHandle, BrokerOptions, Brokered, BrokeredEnd, BrokeredRequest,
    DEFAULT_CONNECTIONS, Gatekeeper, Witness,
};
#[cfg(target_os = "linux")]
pub use broker_handshake::PassedHandoff;
pub use broker_hostname::WHY_URL;
pub use client_hello::{ClientHello, MAX_CLIENT_HELLO};
pub use header_table::{HEADER_TABLE, HeaderAt, HeaderFate, HeaderOf, HeaderRow, WITHHELD};
pub use host_list::{HostEntry, HostList, HostListError};
#[cfg(target_os = "linux")]
pub use login_bindings::{LoginBindings, UserLoginFile};
pub use name_query::{MAX_QUERY, NameAnswer, NameQuery};
#[cfg(target_os = "linux")]
pub use observed_hosts::Observed;
pub use policy::{NetPolicy, NetVerdict};
pub use proxy_request::{BadRequest, MAX_HEAD, ProxyRequest, RequestBody};
pub use proxy_token::{proxy_token, to_whole_url};
pub use refusal_texts::RefusalTexts;
pub use request_stream::RequestStream;
pub use secret_binding::{SecretBinding, SecretError};
#[cfg(target_os = "linux")]
pub use secrets::{ScrubbedStream, Scrubber, Secrets, read_login_source};
pub use target::{Host, NetRefused, NetTarget};
#[cfg(target_os = "linux")]
pub use upstream_proxy::{UpstreamError, UpstreamProxies, UpstreamProxy};

//! The names under which a server answers. A page whose name was rebound to this address sends its
//! own name, which is none of them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The hosts of a server.
#[derive(Clone, Debug)]
pub(in super::super) struct HostRules {
    /// Those of this machine.
    loopback: Vec<String>,
    /// Those that others know.
    named: Vec<String>,
    /// The port at which any address counts: no name can be rebound to one. Set if the server
    /// listens on all addresses.
    any_address: Option<u16>,
    /// Whether the port is the usual one, which clients leave out.
    usual: bool,
}

impl HostRules {
    pub(in super::super) fn new(listen: SocketAddr, tls: bool, allowed: &[String]) -> Self {
        let port = listen.port();
        let usual = port == if tls { 443 } else { 80 };
        // Clients leave the usual port out.
        let with_port = |host: &str| {
            let bare = usual.then(|| host.to_owned());
            [format!("{host}:{port}")].into_iter().chain(bare)
        };
        let own = match listen.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        let wildcard = listen.ip().is_unspecified();
        let (mut loopback, mut named) = (Vec::new(), Vec::new());
        if wildcard || listen.ip().to_canonical().is_loopback() {
            loopback.extend(["localhost", "127.0.0.1", "[::1]"].into_iter().flat_map(with_port));
        }
        if listen.ip().to_canonical().is_loopback() {
            loopback.extend(with_port(&own));
        } else {
            named.extend(with_port(&own));
        }
        for host in allowed {
            let host = host.to_ascii_lowercase();
            // A port is the server's own, unless the name has another one.
            let has_port =
                host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
            if !has_port {
                named.push(format!("{host}:{port}"));
            }
            named.push(host);
        }
        Self { loopback, named, any_address: wildcard.then_some(port), usual }
    }

    /// Returns whether the server answers for a host, in lower case.
    pub(super) fn allows(&self, host: &str) -> bool {
        self.is_loopback(host)
            || self.named.iter().any(|name| name == host)
            || self.any_address.is_some_and(|port| {
                let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
                let is_ip = match bare {
                    Some(ip) => ip.parse::<Ipv6Addr>().is_ok(),
                    None => host.parse::<Ipv4Addr>().is_ok(),
                };
                self.usual && is_ip
                    || host.parse::<SocketAddr>().is_ok_and(|address| address.port() == port)
            })
    }

    /// Returns whether only this machine knows the host.
    pub(super) fn is_loopback(&self, host: &str) -> bool {
        self.loopback.iter().any(|name| name == host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(listen: &str, tls: bool, allowed: &[&str]) -> HostRules {
        let allowed: Vec<String> = allowed.iter().map(|host| (*host).to_owned()).collect();
        HostRules::new(listen.parse().expect("it is an address"), tls, &allowed)
    }

    #[test]
    fn loopback_answers_for_its_own_names_with_the_port() {
        let rules = rules("127.0.0.1:7100", false, &[]);
        for host in ["127.0.0.1:7100", "localhost:7100", "[::1]:7100"] {
            assert!(rules.allows(host) && rules.is_loopback(host), "{host}");
        }
        for host in [
            "",
            "localhost",
            "127.0.0.1",
            "localhost:7101",
            "127.0.0.1:7100.evil.example",
            "evil.example:7100",
            "localhost.evil.example:7100",
            "192.168.0.7:7100",
            "localhost:7100, evil.example",
        ] {
            assert!(!rules.allows(host), "{host}");
        }
    }

    #[test]
    fn usual_port_may_be_left_out() {
        assert!(rules("127.0.0.1:80", false, &[]).allows("localhost"));
        assert!(!rules("127.0.0.1:80", true, &[]).allows("localhost"));
        assert!(rules("[::1]:443", true, &[]).is_loopback("[::1]"));
        for (listen, tls) in [("0.0.0.0:80", false), ("0.0.0.0:443", true), ("[::]:80", false)] {
            let rules = rules(listen, tls, &[]);
            for host in ["10.1.2.3", "[2001:db8::1]"] {
                assert!(rules.allows(host) && !rules.is_loopback(host), "{listen}: {host}");
            }
            for host in ["evil.example", "2001:db8::1", "[10.1.2.3]", "10.1.2.3:7100", ""] {
                assert!(!rules.allows(host), "{listen}: {host}");
            }
        }
        assert!(!rules("0.0.0.0:7100", false, &[]).allows("10.1.2.3"));
    }

    #[test]
    fn server_on_all_addresses_accepts_ips_and_allowed_names() {
        let rules = rules("0.0.0.0:7100", false, &["Agents.example.org", "other.example:8443"]);
        for host in
            ["10.0.0.3:7100", "[2001:db8::1]:7100", "agents.example.org", "agents.example.org:7100"]
        {
            assert!(rules.allows(host) && !rules.is_loopback(host), "{host}");
        }
        assert!(rules.is_loopback("localhost:7100") && rules.allows("other.example:8443"));
        for host in ["10.0.0.3:7101", "other.example", "other.example:7100", "evil.example:7100"] {
            assert!(!rules.allows(host), "{host}");
        }
        let one = super::tests::rules("192.168.0.7:7100", false, &[]);
        assert!(one.allows("192.168.0.7:7100") && !one.allows("localhost:7100"));
    }
}

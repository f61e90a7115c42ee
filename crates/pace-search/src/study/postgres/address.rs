//! [`Address`]: where a study stands: `postgres://user@host/database?study=name`.

use std::fmt;
use std::time::Duration;

use postgres::Config;
use postgres::config::{Host, SslMode};

use crate::error::Error;

/// The schemes of PostgreSQL's own tools.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];
/// How long to wait for a host that does not answer at all.
const CONNECT: Duration = Duration::from_secs(10);
/// After so long without a sign of life, a connection counts as broken.
const SILENCE: Duration = Duration::from_secs(60);

/// A database, and the name of a study in it.
#[derive(Clone)]
pub struct Address {
    pub(super) config: Config,
    pub(super) study: String,
    /// Without user and password, for messages.
    shown: String,
}

impl Address {
    /// Whether a text is meant as such an address, and not as a path.
    pub fn is_one(text: &str) -> bool {
        SCHEMES.iter().any(|scheme| text.starts_with(scheme))
    }

    /// Parses an address.
    ///
    /// # Errors
    /// If it names no study or no host, if it demands TLS, or if PostgreSQL's client does not understand it.
    pub fn parse(text: &str) -> Result<Address, Error> {
        let (base, parameters) = text.split_once('?').unwrap_or((text, ""));
        let broken = |reason: &str| {
            // Whatever stands before the last @ may be a password.
            let shown = base.rsplit_once('@').map_or(base, |(_, place)| place);
            Error::Address { address: format!("'{shown}'"), reason: reason.to_owned() }
        };
        if !Address::is_one(text) {
            return Err(broken("an address of a database begins with postgres://"));
        }
        let (own, others): (Vec<&str>, Vec<&str>) =
            parameters.split('&').filter(|part| !part.is_empty()).partition(|part| part.starts_with("study="));
        let name = own.first().and_then(|part| decoded(&part["study=".len()..])).unwrap_or_default();
        if name.is_empty() || name.contains('\0') || own.len() != 1 {
            return Err(broken("it names no study; end it with ?study=NAME"));
        }
        let mut config: Config = format!("{base}?{}", others.join("&"))
            .parse()
            .map_err(|error: postgres::Error| broken(&format!("{}; correct it", super::connection::reason(&error))))?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(broken(
                "it names no host; write postgres://HOST/DATABASE, or ?host=FOLDER for the socket in a folder",
            ));
        }
        if config.get_ssl_mode() == SslMode::Require {
            return Err(broken(
                "this program does not speak TLS; drop sslmode=require and take a private network or a tunnel",
            ));
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        config.keepalives_idle(SILENCE / 2).keepalives_interval(SILENCE / 6).keepalives_retries(3);
        config.tcp_user_timeout(SILENCE);
        if config.get_application_name().is_none() {
            config.application_name("pace");
        }
        let shown = shown(&config, &name);
        Ok(Address { config, study: name, shown })
    }

    /// The password to use if the address holds none, e.g. from an environment variable: others can read a command line.
    #[must_use]
    pub fn or_password(mut self, password: Option<&str>) -> Address {
        if let (None, Some(password)) = (self.config.get_password(), password) {
            self.config.password(password);
        }
        self
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Address").field(&self.shown).finish()
    }
}

fn shown(config: &Config, study: &str) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.display().to_string(),
        #[cfg(not(unix))]
        Some(_) => "?".to_owned(),
        None => config.get_hostaddrs().first().map(ToString::to_string).unwrap_or_default(),
    };
    format!("study '{study}' in database '{}' at {host}", config.get_dbname().unwrap_or("of the user"))
}

/// Replaces %41 by A, and so on; `None` if that gives no text.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        bytes.push(match (*first, tail) {
            (b'%', [high, low, after @ ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                rest = after;
                (16 * digit(high)? + digit(low)?) as u8
            }
            (b'%', _) => return None,
            (byte, _) => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_database_and_study_and_hides_the_password() {
        let text = "postgres://ann:s3cret@db.example.org:5433/lab?connect_timeout=3&study=na%20one";
        let address = Address::parse(text).unwrap();
        assert_eq!((address.study.as_str(), address.config.get_ports()), ("na one", &[5433][..]));
        assert_eq!(address.config.get_connect_timeout(), Some(&Duration::from_secs(3)));
        assert_eq!(address.to_string(), "study 'na one' in database 'lab' at db.example.org");
        assert!(!format!("{address:?}").contains("s3cret"));
        let with_password = address.or_password(Some("other"));
        assert_eq!(with_password.config.get_password(), Some(&b"s3cret"[..]));
        let socket = Address::parse("postgresql:///lab?host=/run/postgresql&study=na").unwrap().or_password(Some("pw"));
        assert_eq!(socket.to_string(), "study 'na' in database 'lab' at /run/postgresql");
        assert_eq!(socket.config.get_password(), Some(&b"pw"[..]));
    }

    #[test]
    fn broken_addresses_say_what_to_do() {
        for (text, wanted) in [
            ("mysql://host/db?study=na", "begins with postgres://"),
            ("postgres://ann:s3cret@host/db", "?study=NAME"),
            ("postgres://host/db?study=", "?study=NAME"),
            ("postgres://host/db?study=%4", "?study=NAME"),
            ("postgres://host/db?study=a%00b", "?study=NAME"),
            ("postgres://host/db?study=a&study=b", "?study=NAME"),
            ("postgres:///db?study=na", "names no host"),
            ("postgres://host/db?study=na&sslmode=require", "does not speak TLS"),
            ("postgres://host/db?study=na&color=red", "unknown option"),
            ("postgres://host:port/db?study=na", "port"),
        ] {
            let error = Address::parse(text).unwrap_err().to_string();
            assert!(error.contains(wanted) && !error.contains("s3cret"), "{text}: {error}");
        }
        assert!(Address::is_one("postgresql://x") && !Address::is_one("runs/postgres"));
    }
}

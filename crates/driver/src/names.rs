//! The addresses of a system's names: a name may have several, and others later.

use std::net::IpAddr;
use std::sync::mpsc::{self, TryRecvError};
use std::thread;
use std::time::Duration;

use measure::{ErrorClass, Failure};
use net::{Endpoint, Handle};

use crate::Address;

/// Time between two looks whether a name has been looked up.
const POLL_PERIOD: Duration = Duration::from_millis(1);

/// The addresses of the family of the first one. Servers rarely listen on both families of a name such as `localhost`.
pub(crate) fn of_first_family(mut found: Vec<Address>) -> Vec<Address> {
    let is_ipv4 = |address: &Address| match &address.endpoint {
        Endpoint::Tcp(address) => address.is_ipv4(),
        Endpoint::Unix(_) => true,
    };
    let first = found.first().is_none_or(is_ipv4);
    found.retain(|address| is_ipv4(address) == first);
    found
}

/// The address of a connection, and the others of its name behind it.
pub(crate) fn from(all: &[Address], connection: usize) -> Vec<Address> {
    let Some(own) = connection.checked_rem(all.len()).and_then(|place| all.get(place)) else {
        return Vec::new();
    };
    let others = all.iter().filter(|other| other.name == own.name && *other != own);
    std::iter::once(own).chain(others).cloned().collect()
}

/// What was found at a name, with the known address first if it is still there. If not, connections begin with different
/// addresses.
fn in_turn(mut found: Vec<Address>, known: &Address, connection: usize) -> Vec<Address> {
    match found.iter().position(|address| address == known) {
        Some(place) => found[..=place].rotate_right(1),
        None => {
            let alike = of_first_family(found.clone()).len();
            let first = connection.checked_rem(alike).unwrap_or(0);
            found[..alike].rotate_left(first);
        }
    }
    found
}

/// Looks the name of an address up again, on a thread that is left behind when that takes longer. `None` when the address
/// has no name, or the name cannot be looked up: then the known addresses go on.
async fn look_up(handle: &Handle, known: &Address, bound: Duration) -> Option<Vec<Address>> {
    let Endpoint::Tcp(endpoint) = known.endpoint else { return None };
    let host = known.host().to_owned();
    if host.parse::<IpAddr>().is_ok() {
        return None;
    }
    let name = known.name.clone();
    let (tell, told) = mpsc::channel();
    let look_up = move || {
        // Nobody waits any more when the time is over.
        let _ = tell.send(Address::look_up_all(&host, endpoint.port(), &name));
    };
    thread::Builder::new().name("names".to_owned()).spawn(look_up).ok()?;
    let found = net::within(handle, bound, async {
        loop {
            match told.try_recv() {
                Ok(found) => return found.ok(),
                Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) => handle.sleep(POLL_PERIOD).await,
            }
        }
    });
    found.await.flatten()
}

/// The addresses that a name has now, as [`in_turn`] orders them for the connection of this index; `None` as for
/// [`look_up`].
pub(crate) async fn followed(
    handle: &Handle,
    known: &Address,
    (connection, bound): (usize, Duration),
) -> Option<Vec<Address>> {
    Some(in_turn(look_up(handle, known, bound).await?, known, connection))
}

/// What the first of these addresses gives where `connect` succeeds. A refused login is the same at every address.
///
/// # Errors
/// That of the first address, or of the one that refused the login.
pub(crate) async fn first_of<T>(
    addresses: &[Address],
    connect: impl AsyncFn(&Address) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut first = None;
    for address in addresses {
        match connect(address).await {
            Err(failure) if failure.key.class != ErrorClass::Login => {
                first.get_or_insert(failure);
            }
            done => return done,
        }
    }
    let message = "no address to connect to: give one in the URL";
    Err(first.unwrap_or_else(|| Failure::new(ErrorClass::Connection, "", message)))
}

/// A setting that tells the addresses of names that have several; none when there is no such name.
pub(crate) fn several(all: &[Address]) -> Option<(String, String)> {
    let names = all.chunk_by(|one, next| one.name == next.name).filter(|of_name| of_name.len() > 1);
    let told = names.map(|of_name| {
        let addresses = of_name.iter().filter_map(|address| match address.endpoint {
            Endpoint::Tcp(address) => Some(address.ip().to_string()),
            Endpoint::Unix(_) => None,
        });
        let addresses: Vec<String> = addresses.collect();
        let (name, count) = (&of_name[0].name, of_name.len());
        format!("{name} is {count} addresses: {}", addresses.join(", "))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| ("addresses".to_owned(), told.join("; ")))
}

#[cfg(test)]
mod tests {
    use net::{Clock, Runtime};

    use super::*;

    fn address(name: &str, endpoint: &str) -> Address {
        Address { name: name.to_owned(), endpoint: Endpoint::Tcp(endpoint.parse().unwrap()) }
    }

    fn shown(addresses: &[Address]) -> Vec<String> {
        let ip = |address: &Address| match address.endpoint {
            Endpoint::Tcp(address) => address.ip().to_string(),
            Endpoint::Unix(_) => String::new(),
        };
        addresses.iter().map(ip).collect()
    }

    #[test]
    fn connections_are_divided_over_all_addresses_of_a_name() {
        let all = ["10.0.0.1:7", "10.0.0.2:7", "10.0.0.3:7"].map(|it| address("pods:7", it));
        let of = |connection| shown(&from(&all, connection));
        assert_eq!(of(0), ["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
        assert_eq!(of(4), ["10.0.0.2", "10.0.0.1", "10.0.0.3"]);
        let told = several(&all).unwrap().1;
        assert_eq!(told, "pods:7 is 3 addresses: 10.0.0.1, 10.0.0.2, 10.0.0.3");
        assert_eq!(several(&all[..1]), None);
    }

    #[test]
    fn a_known_address_stays_first_and_a_name_that_moved_is_followed() {
        let found = ["10.0.0.4:7", "10.0.0.2:7", "[fd00::1]:7"].map(|it| address("pods:7", it));
        let known = |endpoint, connection| {
            let known = address("pods:7", endpoint);
            shown(&in_turn(found.to_vec(), &known, connection))
        };
        assert_eq!(known("10.0.0.2:7", 0), ["10.0.0.2", "10.0.0.4", "fd00::1"]);
        assert_eq!(known("10.0.0.1:7", 0), ["10.0.0.4", "10.0.0.2", "fd00::1"]);
        assert_eq!(known("10.0.0.1:7", 1), ["10.0.0.2", "10.0.0.4", "fd00::1"]);
    }

    #[test]
    fn the_next_address_is_tried_unless_the_login_is_refused() {
        let all = ["10.0.0.1:7", "10.0.0.2:7", "10.0.0.3:7"].map(|it| address("db:7", it));
        let tried = |classes: [Option<ErrorClass>; 3]| {
            let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
            let all = all.clone();
            let connect = async move |address: &Address| {
                let place = all.iter().position(|it| it == address).unwrap();
                let failed = classes[place].map(|class| Failure::new(class, "", place.to_string()));
                failed.map_or(Ok(place), Err)
            };
            let addresses =
                ["10.0.0.1:7", "10.0.0.2:7", "10.0.0.3:7"].map(|it| address("db:7", it));
            let result = runtime.block_on(async move { first_of(&addresses, connect).await });
            result.unwrap().map_err(|failure| failure.message.clone())
        };
        let lost = Some(ErrorClass::Connection);
        assert_eq!(tried([None, None, None]), Ok(0));
        assert_eq!(tried([lost, lost, None]), Ok(2));
        assert_eq!(tried([lost, Some(ErrorClass::Login), None]), Err("1".to_owned()));
        assert_eq!(tried([lost, lost, lost]), Err("0".to_owned()));
    }

    #[test]
    fn names_are_looked_up_and_addresses_are_not() {
        let look = |known: Address| {
            let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
            let handle = runtime.handle();
            let looked = async move { look_up(&handle, &known, Duration::from_secs(100)).await };
            runtime.block_on(looked).unwrap()
        };
        let found = look(address("localhost:7", "10.0.0.1:7")).unwrap();
        assert_eq!(found[0], address("localhost:7", "127.0.0.1:7"));
        assert_eq!(look(address("127.0.0.1:7", "127.0.0.1:7")), None);
        assert_eq!(look(address("no name:7", "127.0.0.1:7")), None);
    }
}

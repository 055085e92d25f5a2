//! Shared by the tests of the driver: an event loop and sessions on the real server.

use std::future::Future;

use driver::LoginSources;
use driver::mysql::Url;
use driver::{Datum, Session, Target};
use net::{Clock, Handle, Runtime};

use crate::server;

/// Runs a future to completion on its own event loop.
pub(crate) fn run<T: 'static, F: Future<Output = T> + 'static>(
    body: impl FnOnce(Handle) -> F,
) -> T {
    let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
    let handle = runtime.handle();
    runtime.block_on(body(handle)).unwrap()
}

pub(crate) fn target(url: &str) -> Target {
    Target::mysql(Url::parse(url).unwrap().resolve(&LoginSources::default()).unwrap())
}

/// The server's URL with another database and options.
pub(crate) fn url_of(database: &str, options: &str) -> String {
    let url = server::url();
    let (server, _) = url.rsplit_once('/').unwrap();
    format!("{server}/{database}{options}")
}

/// `host:port` of the server.
pub(crate) fn address() -> String {
    let url = server::url();
    url.split_once('@').unwrap().1.split_once('/').unwrap().0.to_owned()
}

/// A session in the test's own database.
pub(crate) async fn session(handle: &Handle, database: &str, options: &str) -> Session {
    target(&url_of(database, options)).connect(handle, 0).await.unwrap()
}

/// The only cell of the only row.
pub(crate) async fn cell(session: &mut Session, sql: &str) -> Datum {
    let rows = session.rows(sql).await.unwrap();
    assert_eq!((rows.len(), rows[0].len()), (1, 1), "{sql}: {rows:?}");
    rows[0][0].clone()
}

pub(crate) fn text(text: &str) -> Datum {
    Datum::Text(text.to_owned())
}

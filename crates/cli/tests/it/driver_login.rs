//! Logins to a real server: passwords, sockets, addresses, refusals.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;

use driver::Datum;
use driver::LoginSources;
use driver::mysql::Url;
use measure::Failure;
use net::{Clock, Runtime};

use crate::driver_support::{address, cell, run, session, target, text, url_of};
use crate::server;

fn refusal(url: String) -> Failure {
    run(|handle| async move { target(&url).connect(&handle, 0).await.unwrap_err() })
}

/// The user that the server reports after a login with this URL.
fn user_at(url: &str) -> Datum {
    let target = target(url);
    run(|handle| async move {
        let mut session = target.connect(&handle, 0).await.unwrap();
        let user = cell(&mut session, "SELECT SUBSTRING_INDEX(USER(), '@', 1)").await;
        session.close().await;
        user
    })
}

#[test]
fn a_wrong_password_is_refused_without_being_shown() {
    server::sql("CREATE OR REPLACE USER driver_pw@localhost IDENTIFIED BY 'hors3 & carr1age'");
    let address = address();
    let right = format!("mysql://driver_pw:hors3%20%26%20carr1age@{address}/");
    assert_eq!(user_at(&right), text("driver_pw"));
    let failure = refusal(format!("mysql://driver_pw:carrot@{address}/"));
    assert_eq!(failure.key.to_string(), "login 1045");
    assert!(failure.message.contains("DYNO_PASSWORD"), "{failure}");
    assert!(!failure.message.contains("carrot"), "{failure}");
}

#[test]
fn a_password_comes_from_an_option_file() {
    server::sql("CREATE OR REPLACE USER driver_cnf@localhost IDENTIFIED BY 'x y#z'");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("my.cnf");
    std::fs::write(&file, "[client]\nuser = driver_cnf\npassword = 'x y#z'\n").unwrap();
    let sources = LoginSources { option_file: Some(file), ..LoginSources::default() };
    let config = Url::parse(&format!("mysql://{}/", address())).unwrap().resolve(&sources).unwrap();
    let target = driver::Target::mysql(config);
    run(|handle| async move { target.connect(&handle, 0).await.unwrap().close().await });
}

#[test]
fn a_unix_socket_reaches_the_same_server() {
    let socket = server::sql("SELECT @@socket").trim().to_owned();
    assert!(Path::new(&socket).is_absolute());
    let password = server::login(&server::url()).password;
    assert_eq!(user_at(&format!("mysql://root:{password}@/?socket={socket}")), text("root"));
    let failure = refusal("mysql://root@/?socket=/nonexistent/s.sock".into());
    assert!(failure.message.contains("there is no such socket"), "{failure}");
}

#[test]
fn an_unknown_database_error_says_how_to_create_it() {
    let failure = refusal(url_of("driver_nowhere", ""));
    assert_eq!(failure.key.to_string(), "login 1049");
    assert!(failure.message.contains("`--create-database`"), "{failure}");
}

#[test]
fn an_unreachable_server_is_named() {
    // Another test could take a free port; no process listens on this one.
    let failure = refusal("mysql://root@127.0.0.1:1/".to_owned());
    assert!(failure.message.contains("127.0.0.1:1:"), "{failure}");
    assert!(failure.message.contains("nothing listens there"), "{failure}");
}

#[test]
fn a_server_of_another_protocol_is_reported() {
    use std::io::Write as _;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        socket.write_all(b"\x10\0\0\0HTTP/1.1 400 Bad").unwrap();
    });
    let failure = refusal(format!("mysql://root@127.0.0.1:{port}/"));
    assert_eq!(failure.key.class, measure::ErrorClass::Protocol);
    assert!(failure.message.contains("not that of a MySQL server"), "{failure}");
    serving.join().unwrap();
}

#[test]
fn clients_are_spread_over_addresses() {
    // The same server has two names. The client's own address does not distinguish them better than the name in
    // messages, so the test checks the number of sessions.
    let server::Login { user, password, port, .. } = server::login(&server::url());
    let url = format!("mysql://{user}:{password}@127.0.0.1:{port},127.0.0.1:1/");
    let target = target(&url);
    run(|handle| async move {
        target.connect(&handle, 0).await.unwrap().close().await;
        target.connect(&handle, 2).await.unwrap().close().await;
        let failure = target.connect(&handle, 1).await.unwrap_err();
        assert!(failure.message.contains("127.0.0.1:1:"), "{failure}");
    });
}

#[test]
fn many_clients_of_one_event_loop_all_log_in() {
    const CLIENTS: usize = 120;
    server::database("driver_many");
    let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
    let (handle, target) = (runtime.handle(), target(&url_of("driver_many", "")));
    let answered = Rc::new(Cell::new(0));
    for client in 0..CLIENTS {
        let (handle, target, answered) = (handle.clone(), target.clone(), Rc::clone(&answered));
        runtime.spawn(async move {
            let mut session = target.connect(&handle, client).await.unwrap();
            let select = session.prepare("SELECT 1 WHERE ? > 0").await.unwrap();
            let answer = session.execute(&select, &[driver::Value::Int(1)]).await.unwrap();
            answered.set(answered.get() + answer.rows);
            session.close().await;
        });
    }
    runtime.run(|| Some(u64::MAX)).unwrap();
    assert_eq!(answered.get(), CLIENTS as u64);
}

#[test]
fn a_session_uses_the_database_of_its_url() {
    server::database("driver_here");
    run(|handle| async move {
        let mut session = session(&handle, "driver_here", "").await;
        assert_eq!(cell(&mut session, "SELECT DATABASE()").await, text("driver_here"));
    });
}

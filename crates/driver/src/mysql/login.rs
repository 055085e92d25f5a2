//! The conversation that opens a connection.

use std::time::Duration;

use measure::{ErrorClass, Failure, Traffic};
use net::{Handle, Patience, Stream};

use super::Config;
use super::codec::{
    AuthReply, Greeting, LoginRequest, Reply, ServerError, append_packet, capability,
    scramble_native_password,
};
use super::config::Address;
use super::session::{Session, unreachable};
use crate::Timeouts;

const NATIVE_PASSWORD: &str = "mysql_native_password";

/// What we can use of what the server offers.
const WANTED: u32 = capability::LONG_PASSWORD
    | capability::LONG_FLAG
    | capability::PROTOCOL_41
    | capability::TRANSACTIONS
    | capability::SECURE_CONNECTION
    | capability::MULTI_RESULTS
    | capability::PS_MULTI_RESULTS
    | capability::PLUGIN_AUTH
    | capability::DEPRECATE_EOF;

/// Whether a session may send rows for LOAD DATA LOCAL INFILE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LocalInfile {
    Offered,
    Withheld,
}

/// What a connection is opened for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    /// Which client it is for; several addresses are shared out by it.
    pub(crate) index: usize,
    pub(crate) local_infile: LocalInfile,
    pub(crate) timeouts: Timeouts,
}

impl Session {
    /// Connects and logs in.
    pub(crate) async fn connect(
        handle: &Handle,
        config: &Config,
        opening: &Opening,
    ) -> Result<Self, Failure> {
        let Timeouts { connect, query } = opening.timeouts;
        let Some(address) = config.address(opening.index) else {
            let message = "no address to connect to: give one in the URL";
            return Err(Failure::new(ErrorClass::Connection, "", message));
        };
        let _turn = handle.opening_turn().await;
        let opened = Self::open(handle, config, address, opening.local_infile);
        let timed_out = || Err(no_answer(address, connect));
        let opened = net::within(handle, connect, opened).await.unwrap_or_else(timed_out);
        let patience = query.map(|bound| Patience::new(handle, bound));
        opened.map(|session| Self { patience, ..session })
    }

    async fn open(
        handle: &Handle,
        config: &Config,
        address: &Address,
        local_infile: LocalInfile,
    ) -> Result<Self, Failure> {
        let connected = Stream::connect(handle, &address.endpoint).await;
        let stream = connected.map_err(|error| unreachable(address, &error))?;
        let mut session = Self::new(stream, address.clone(), config);
        let greeting = session.greeting().await?;
        session.capabilities = agreed(&greeting, config, local_infile);
        let status = session.log_in(&greeting, config).await?;
        session.settle()?;
        session.reply = Reply::new(session.has(capability::DEPRECATE_EOF), status);
        Ok(session)
    }

    fn new(stream: Stream, address: Address, config: &Config) -> Self {
        Self {
            stream,
            address: Box::new(address),
            protocol: config.protocol,
            capabilities: 0,
            request: Vec::new(),
            sent: 0,
            reply: Reply::default(),
            inbox: Box::default(),
            statements: Vec::new(),
            traffic: Traffic::default(),
            patience: None,
            awaits_answer: false,
            is_broken: false,
        }
    }

    async fn greeting(&mut self) -> Result<Greeting, Failure> {
        let (payload, _) = self.message().await?;
        if payload.first() == Some(&0xff) {
            let error = ServerError::parse(&payload).map_err(|malformed| self.broken(malformed))?;
            return Err(self.refused(&error));
        }
        let greeting = Greeting::parse(&payload).map_err(|malformed| self.broken(malformed))?;
        if greeting.capabilities & capability::PROTOCOL_41 == 0 {
            return Err(self.unsupported(&format!("server {} before 4.1", greeting.version)));
        }
        Ok(greeting)
    }

    /// Logs in; returns the status bits that the session begins with.
    async fn log_in(&mut self, greeting: &Greeting, config: &Config) -> Result<u16, Failure> {
        let password = config.password.reveal();
        let proof = scramble_native_password(password, &greeting.nonce);
        let login = LoginRequest {
            capabilities: self.capabilities,
            user: &config.user,
            proof: &proof,
            database: config.database.as_deref(),
            method: NATIVE_PASSWORD,
        };
        self.request.clear();
        login.encode(&mut self.request, 1);
        self.send().await?;
        let mut switches = 0;
        let mut last_method = NATIVE_PASSWORD.to_owned();
        loop {
            let (payload, sequence) = self.message().await?;
            match AuthReply::parse(&payload).map_err(|malformed| self.broken(malformed))? {
                AuthReply::Accepted { status } => return Ok(status),
                AuthReply::Refused(error) => return Err(self.refused(&error)),
                AuthReply::More => return Err(self.unsupported_login(&last_method)),
                AuthReply::Switch { method, nonce } if switches == 0 => {
                    switches += 1;
                    let proof = self.prove(&method, password, &nonce)?;
                    self.request.clear();
                    append_packet(&mut self.request, &proof, sequence.wrapping_add(1));
                    self.send().await?;
                    last_method = method;
                }
                AuthReply::Switch { method, .. } => return Err(self.unsupported_login(&method)),
            }
        }
    }

    /// The answer to a change of the login method.
    fn prove(&self, method: &str, password: &[u8], nonce: &[u8]) -> Result<Vec<u8>, Failure> {
        match method {
            NATIVE_PASSWORD => Ok(scramble_native_password(password, nonce)),
            // No password is proven the same way in all of these: by a lone zero byte.
            "caching_sha2_password" | "sha256_password" if password.is_empty() => Ok(vec![0]),
            other => Err(self.unsupported_login(other)),
        }
    }

    fn unsupported_login(&self, method: &str) -> Failure {
        self.unsupported(&format!(
            "the server asks for the login method {method}; dyno knows {NATIVE_PASSWORD} and empty \
             passwords, so log in as a user identified with {NATIVE_PASSWORD}"
        ))
    }

    fn unsupported(&self, what: &str) -> Failure {
        Failure::new(ErrorClass::Login, "", format!("{}: {what}", self.address.name))
    }
}

fn no_answer(address: &Address, bound: Duration) -> Failure {
    let message = format!(
        "{}: no login within {bound:?}; check that a server of the MySQL protocol listens there and is \
         not overloaded, or raise connect_timeout",
        address.name,
    );
    Failure::new(ErrorClass::Connection, "", message)
}

/// The capabilities that both sides have and this connection needs.
fn agreed(greeting: &Greeting, config: &Config, local_infile: LocalInfile) -> u32 {
    let mut wanted = WANTED;
    if config.database.is_some() {
        wanted |= capability::CONNECT_WITH_DB;
    }
    if local_infile == LocalInfile::Offered {
        wanted |= capability::LOCAL_FILES;
    }
    // MariaDB clears LONG_PASSWORD to say that it is MariaDB; we send it to say that we are not.
    greeting.capabilities & wanted | capability::LONG_PASSWORD
}

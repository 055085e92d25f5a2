//! The conversation that opens a connection.

use measure::{ErrorClass, Failure, Traffic};
use net::{Handle, Stream, Timeout};
use zeroize::{Zeroize, Zeroizing};

use super::Config;
use super::codec::{
    Credentials, Greeting, Login, LoginAction, LoginError, LoginRequest, MessageLimit, Reply,
    ServerError, append_packet, capability, command,
};
use super::local_rows::not_allowed;
use super::peer::Peer;
use super::session::Session;
use crate::Address;
use crate::asked::Asked;
use crate::opening::ConnectOptions;

/// The server's capabilities that dyno can use.
const WANTED: u64 = capability::LONG_PASSWORD
    | capability::LONG_FLAG
    | capability::PROTOCOL_41
    | capability::TRANSACTIONS
    | capability::SECURE_CONNECTION
    | capability::MULTI_RESULTS
    | capability::PS_MULTI_RESULTS
    | capability::PLUGIN_AUTH
    | capability::DEPRECATE_EOF
    | capability::BULK_EXECUTE;

const AUTOCOMMIT_ON: &str = "SET autocommit=1";

impl Session {
    pub(crate) async fn connect(
        handle: &Handle,
        config: &Config,
        opening: &ConnectOptions,
    ) -> Result<Self, Failure> {
        let open = async |address: &Address| {
            Self::open(handle, config, address, opening.sends_local_rows).await
        };
        let known = config.address(opening.index);
        let mut session = opening.connect(handle, (known, "MySQL"), open).await?;
        let query = opening.timeouts.query;
        session.timeout = query.map(|bound| Timeout::new(handle, bound));
        Ok(session)
    }

    async fn open(
        handle: &Handle,
        config: &Config,
        address: &Address,
        sends_local_rows: bool,
    ) -> Result<Self, Failure> {
        let connected = Stream::connect(handle, &address.endpoint).await;
        let stream = connected.map_err(|error| address.unreachable(&error))?;
        let mut session = Self::new(stream, address.clone(), config);
        let greeting = session.greeting().await?;
        session.capabilities = agreed(&greeting, config, sends_local_rows);
        if sends_local_rows && !session.sends_local_rows() {
            return Err(not_allowed(&address.name));
        }
        session.secure(&greeting, config).await?;
        let status = session.log_in(&greeting, config).await;
        // The last request of a login may have the password in it.
        session.request.zeroize();
        let status = status.map_err(|failure| session.with_hint(failure, config))?;
        session.settle()?;
        session.reply = Reply::new(session.has(capability::DEPRECATE_EOF), status);
        if !session.commits_by_itself() {
            session.turn_autocommit_on().await?;
        }
        Ok(session)
    }

    /// A server with `autocommit = OFF` would start a transaction with the first statement and never commit it.
    async fn turn_autocommit_on(&mut self) -> Result<(), Failure> {
        self.build(command::QUERY, AUTOCOMMIT_ON);
        self.asked = Asked::text(AUTOCOMMIT_ON);
        self.ask().await?;
        self.peer.sets_autocommit = true;
        Ok(())
    }

    /// Makes the session as new: without prepared statements, and with the server's variables.
    ///
    /// # Errors
    /// The connection broke, or the server does not know how (before MySQL 5.7 and MariaDB 10.2).
    pub(crate) async fn reset(&mut self) -> Result<(), Failure> {
        self.request.clear();
        self.request.extend_from_slice(&[1, 0, 0, 0, command::RESET_CONNECTION]);
        self.asked = Asked::Nothing;
        self.ask().await?;
        self.statements.clear();
        self.peer.texts.clear();
        if self.commits_by_itself() { Ok(()) } else { self.turn_autocommit_on().await }
    }

    fn new(stream: Stream, address: Address, config: &Config) -> Self {
        Self {
            stream,
            peer: Box::new(Peer::new(address)),
            protocol: config.protocol,
            capabilities: 0,
            request: Vec::new(),
            sent: 0,
            reply: Reply::default(),
            packet_reader: Box::default(),
            statements: Vec::new(),
            asked: Asked::Nothing,
            traffic: Traffic::default(),
            timeout: None,
            awaits_answer: false,
            is_broken: false,
        }
    }

    async fn greeting(&mut self) -> Result<Greeting, Failure> {
        let (payload, _) = self.message(MessageLimit::First).await?;
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

    /// Logs in; returns the first status bits of the session.
    async fn log_in(&mut self, greeting: &Greeting, config: &Config) -> Result<u16, Failure> {
        let credentials = Credentials {
            password: &config.password,
            channel: self.peer.channel(),
            public_key: config.rsa_key.public_key(),
            allows_clear_password: config.enable_cleartext_plugin,
        };
        let begun = Login::begin(greeting, credentials);
        let (mut login, opening) = begun.map_err(|error| self.no_login(error))?;
        let request = LoginRequest {
            capabilities: self.capabilities,
            user: &config.user,
            proof: &opening.proof,
            database: config.database.as_deref(),
            method: opening.method,
        };
        let sequence = self.login_sequence();
        self.request.clear();
        request.encode(&mut self.request, sequence);
        self.send().await?;
        loop {
            let (payload, sequence) = self.message(MessageLimit::Short).await?;
            match login.on_message(&payload).map_err(|error| self.no_login(error))? {
                LoginAction::Accepted { status } => {
                    self.peer.login = Some(login.summary());
                    return Ok(status);
                }
                LoginAction::Listen => {}
                LoginAction::Answer(answer) => {
                    let answer = Zeroizing::new(answer);
                    self.request.zeroize();
                    append_packet(&mut self.request, &answer, sequence.wrapping_add(1));
                    self.send().await?;
                }
            }
        }
    }

    fn no_login(&mut self, error: LoginError) -> Failure {
        match error {
            LoginError::Refused(error) => self.refused(&error),
            LoginError::Malformed(malformed) => self.broken(malformed),
            other => self.unsupported(&other.to_string()),
        }
    }

    fn unsupported(&self, what: &str) -> Failure {
        Failure::new(ErrorClass::Login, "", format!("{}: {what}", self.peer.address.name))
    }
}

/// The capabilities that both sides have and this connection needs.
fn agreed(greeting: &Greeting, config: &Config, sends_local_rows: bool) -> u64 {
    let mut wanted = WANTED;
    if sends_local_rows {
        wanted |= capability::LOCAL_FILES;
    }
    if config.database.is_some() {
        wanted |= capability::CONNECT_WITH_DB;
    }
    let agreed = greeting.capabilities & wanted;
    // When a client clears LONG_PASSWORD, as MariaDB does, MariaDB reads its own bits.
    if agreed & capability::BULK_EXECUTE != 0 { agreed } else { agreed | capability::LONG_PASSWORD }
}

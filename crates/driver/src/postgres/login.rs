//! The conversation that opens a connection.

use std::cell::Cell;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use measure::{ErrorClass, Failure, Traffic};
use net::{Endpoint, Handle, Stream, Timeout};
use ring::rand::{SecureRandom as _, SystemRandom};
use zeroize::{Zeroize as _, Zeroizing};

use super::Config;
use super::codec::{
    Authentication, Binding, Malformed, MessageLimit, Reply, Request, Scram, ScramError,
    ServerError, append_message, append_sasl, append_startup, kind, md5_response,
};
use super::config::ChannelBinding;
use super::peer::{LoginMethod, Peer};
use super::session::Session;
use crate::Address;
use crate::asked::Asked;
use crate::opening::ConnectOptions;
use crate::ssl_options::Encryption;

const SCRAM: &str = "SCRAM-SHA-256";
const SCRAM_PLUS: &str = "SCRAM-SHA-256-PLUS";
const NONCE_BYTES: usize = 18;
const APPLICATION: &str = "dyno";
/// The name of sessions that watch the server.
const WATCH: &str = "dyno-watch";
/// A backend's number, and a secret of 4 bytes; in later protocols of up to 256.
const KEY_BYTES_MAX: usize = 260;

impl Session {
    pub(crate) async fn connect(
        handle: &Handle,
        config: &Config,
        opening: &ConnectOptions,
    ) -> Result<Self, Failure> {
        let known = config.address(opening.index);
        let open = async |address: &Address| Self::open(handle, config, address).await;
        let mut session = opening.connect(handle, (known, "PostgreSQL"), open).await?;
        session.timeout = opening.timeouts.query.map(|bound| Timeout::new(handle, bound));
        Ok(session)
    }

    async fn open(handle: &Handle, config: &Config, address: &Address) -> Result<Self, Failure> {
        let is_refused = Cell::new(false);
        let open = async |encryption: &Encryption| {
            Self::open_with(handle, config, (address, encryption), &is_refused).await
        };
        let opened = open(&config.encryption).await;
        match (opened, &config.encryption, &address.endpoint) {
            (Err(refusal), Encryption::WhenRefused(tls), Endpoint::Tcp(_)) if is_refused.get() => {
                let encrypted = open(&Encryption::Always(tls.clone())).await;
                encrypted.map_err(|failure| without_and_with_tls(refusal, &failure))
            }
            (opened, ..) => opened,
        }
    }

    /// Opens a session with this encryption; `is_refused` tells whether the server refused the login.
    async fn open_with(
        handle: &Handle,
        config: &Config,
        (address, encryption): (&Address, &Encryption),
        is_refused: &Cell<bool>,
    ) -> Result<Self, Failure> {
        let connected = Stream::connect(handle, &address.endpoint).await;
        let stream = connected.map_err(|error| address.unreachable(&error))?;
        let mut session = Self {
            stream,
            peer: Box::new(Peer::new(address.clone(), config)),
            request: Vec::new(),
            sent: 0,
            reply: Reply::default(),
            statements: Vec::new(),
            asked: Asked::Nothing,
            traffic: Traffic::default(),
            timeout: None,
            awaits_answer: false,
            is_broken: false,
            commits: false,
        };
        session.secure(config, encryption).await?;
        let logged_in = session.log_in(config, is_refused).await;
        // The last request of a login may have the password in it.
        session.request.zeroize();
        logged_in?;
        session.peer.sessions.began(&address.name, session.peer.process());
        session.peer.is_known = true;
        session.demand_standard_texts()?;
        session.demand_encoding()?;
        Ok(session)
    }

    /// Makes the session as new: without prepared statements, and with the server's settings.
    ///
    /// # Errors
    /// The connection broke, or the server does not know how.
    pub(crate) async fn reset(&mut self) -> Result<(), Failure> {
        self.build_text("DISCARD ALL");
        self.asked = Asked::Nothing;
        self.ask(Request::Text).await?;
        self.statements.clear();
        self.peer.texts.clear();
        Ok(())
    }

    async fn log_in(&mut self, config: &Config, is_refused: &Cell<bool>) -> Result<(), Failure> {
        let mut settings = vec![("user", config.user.as_str())];
        settings.extend(config.database.as_deref().map(|name| ("database", name)));
        let application = if config.is_for_watching { WATCH } else { APPLICATION };
        settings.extend([("application_name", application), ("client_encoding", "UTF8")]);
        settings.extend(config.options.as_deref().map(|options| ("options", options)));
        if settings.iter().any(|(_, value)| value.contains('\0')) {
            return Err(self.no_login("a user, a database or options have no zero byte"));
        }
        self.request.clear();
        append_startup(&mut self.request, &settings);
        self.send().await?;
        self.authenticate(config, is_refused).await?;
        loop {
            let (kind, body) = self.message(MessageLimit::Short).await?;
            match kind {
                kind::KEY_DATA if body.len() <= KEY_BYTES_MAX => self.peer.key = body,
                kind::READY => return self.settle(&body),
                kind::ERROR => return Err(self.refused_login(&body)),
                _ => return Err(self.broken(Malformed("a message that was not due in a login"))),
            }
        }
    }

    /// Proves the password in the way that the server asks for.
    async fn authenticate(
        &mut self,
        config: &Config,
        is_refused: &Cell<bool>,
    ) -> Result<(), Failure> {
        loop {
            let asked = self.authentication(MessageLimit::First, is_refused).await?;
            let methods = config.methods;
            let (is_allowed, name) = match &asked {
                Authentication::Accepted => {
                    let has_proven = self.peer.login != LoginMethod::None;
                    (has_proven || methods.none, "none")
                }
                Authentication::Cleartext => (methods.password, "password"),
                Authentication::Md5 { .. } => (methods.md5, "md5"),
                Authentication::Sasl(_) => (methods.scram, "scram-sha-256"),
                _ => (true, ""),
            };
            if !is_allowed {
                let what = format!(
                    "the server asks for the password by `{name}`, which require_auth does not allow"
                );
                return Err(self.no_login(&what));
            }
            if self.peer.login != LoginMethod::None && asked != Authentication::Accepted {
                return Err(self.broken(Malformed("the server asks for the password again")));
            }
            match asked {
                Authentication::Accepted => return self.demand_binding(config),
                Authentication::Cleartext => self.send_password(config).await?,
                Authentication::Md5 { salt } => {
                    let proof = md5_response(&config.user, &config.password, salt);
                    self.prove(proof.as_bytes(), LoginMethod::Md5).await?;
                }
                Authentication::Sasl(mechanisms) => {
                    self.scram(config, &mechanisms, is_refused).await?;
                }
                Authentication::Other(code) => {
                    let what = format!(
                        "the server asks for a login by Kerberos, SSPI or another method (number {code}) that dyno does \
                         not have; let pg_hba.conf say scram-sha-256"
                    );
                    return Err(self.no_login(&what));
                }
                Authentication::SaslContinue(_) | Authentication::SaslFinal(_) => {
                    return Err(self.broken(Malformed("a SASL message that was not due")));
                }
            }
        }
    }

    async fn authentication(
        &mut self,
        limit: MessageLimit,
        is_refused: &Cell<bool>,
    ) -> Result<Authentication, Failure> {
        loop {
            let (kind, body) = self.message(limit).await?;
            return match kind {
                kind::AUTHENTICATION => {
                    Authentication::parse(&body).map_err(|malformed| self.broken(malformed))
                }
                kind::ERROR => {
                    is_refused.set(true);
                    Err(self.refused_login(&body))
                }
                // The server has fewer versions of the protocol, or fewer options of it.
                kind::NEGOTIATE => continue,
                _ => Err(self.broken(Malformed("a message that was not due in a login"))),
            };
        }
    }

    /// The password itself goes only where nobody else can read it.
    async fn send_password(&mut self, config: &Config) -> Result<(), Failure> {
        if !self.peer.is_private() {
            return Err(self.no_login(
                "the server asks for the password itself, over a connection that others may read; encrypt it by \
                 sslmode=verify-full, or let pg_hba.conf say scram-sha-256",
            ));
        }
        let password = config.password.reveal(|password| Zeroizing::new(password.to_vec()));
        if password.contains(&0) {
            return Err(self.no_login("a password has no zero byte"));
        }
        self.prove(&password, LoginMethod::Cleartext).await
    }

    async fn prove(&mut self, proof: &[u8], method: LoginMethod) -> Result<(), Failure> {
        let mut body = Zeroizing::new(proof.to_vec());
        body.push(0);
        self.request.clear();
        append_message(&mut self.request, kind::PASSWORD, &body);
        self.peer.login = method;
        self.send().await
    }

    async fn scram(
        &mut self,
        config: &Config,
        mechanisms: &[String],
        is_refused: &Cell<bool>,
    ) -> Result<(), Failure> {
        let (mechanism, binding) = self.mechanism(config, mechanisms)?;
        let mut scram = Scram::new(binding, self.nonce()?);
        self.request.clear();
        append_sasl(&mut self.request, mechanism, scram.first().as_bytes());
        self.send().await?;
        let continued = self.authentication(MessageLimit::Short, is_refused).await?;
        let Authentication::SaslContinue(first) = continued else {
            return Err(self.broken(Malformed("the server leaves the SCRAM exchange")));
        };
        let answer = scram.answer(&first, &config.password, &config.keys);
        let answer = answer.map_err(|error| self.no_scram(&error))?;
        self.request.clear();
        append_message(&mut self.request, kind::PASSWORD, answer.as_bytes());
        self.send().await?;
        // The login must not be accepted before the server has proven that it knows the password.
        let ended = self.authentication(MessageLimit::Short, is_refused).await?;
        let Authentication::SaslFinal(last) = ended else {
            return Err(self.broken(Malformed("the server leaves the SCRAM exchange")));
        };
        scram.verify(&last).map_err(|error| self.no_scram(&error))?;
        let is_bound = mechanism == SCRAM_PLUS;
        self.peer.login = if is_bound { LoginMethod::ScramPlus } else { LoginMethod::Scram };
        Ok(())
    }

    /// The mechanism to take of those that the server offers.
    fn mechanism(
        &self,
        config: &Config,
        offered: &[String],
    ) -> Result<(&'static str, Binding), Failure> {
        let has = |name: &str| offered.iter().any(|it| it == name);
        let hash = match config.channel_binding {
            ChannelBinding::Disable => None,
            ChannelBinding::Prefer | ChannelBinding::Require => self.certificate_hash(),
        };
        match hash {
            Some(hash) if has(SCRAM_PLUS) => Ok((SCRAM_PLUS, Binding::Certificate(hash))),
            _ if config.channel_binding == ChannelBinding::Require => Err(self.not_bound()),
            Some(_) if has(SCRAM) => Ok((SCRAM, Binding::NotOffered)),
            None if has(SCRAM) => Ok((SCRAM, Binding::None)),
            _ => {
                let what = format!(
                    "the server offers no login that dyno has, only {}; let pg_hba.conf say scram-sha-256",
                    offered.join(", ")
                );
                Err(self.no_login(&what))
            }
        }
    }

    /// The hash of the server's certificate that a proof is bound to; `None` without TLS, or where none is defined for
    /// the certificate.
    fn certificate_hash(&self) -> Option<Vec<u8>> {
        self.stream.certificate_hash()
    }

    /// A login without a proof is not bound to anything.
    fn demand_binding(&self, config: &Config) -> Result<(), Failure> {
        let is_required = config.channel_binding == ChannelBinding::Require;
        if is_required && self.peer.login != LoginMethod::ScramPlus {
            return Err(self.not_bound());
        }
        Ok(())
    }

    fn not_bound(&self) -> Failure {
        self.no_login(
            "channel_binding=require, but the login cannot be bound to the server's certificate: it takes TLS, a password \
             stored as scram-sha-256, and a certificate that is not signed with Ed25519",
        )
    }

    fn nonce(&self) -> Result<String, Failure> {
        let mut bytes = [0; NONCE_BYTES];
        let filled = SystemRandom::new().fill(&mut bytes);
        filled.map_err(|_| self.no_login("the kernel gives no random numbers"))?;
        Ok(BASE64.encode(bytes))
    }

    fn no_scram(&mut self, error: &ScramError) -> Failure {
        self.give_up();
        self.no_login(&error.to_string())
    }

    fn refused_login(&mut self, body: &[u8]) -> Failure {
        match ServerError::parse(body) {
            Ok(error) => self.refused(&error),
            Err(malformed) => self.broken(malformed),
        }
    }

    /// With another meaning of backslashes in texts, a text of the client may end elsewhere than it means.
    fn demand_standard_texts(&self) -> Result<(), Failure> {
        match self.peer.setting("standard_conforming_strings") {
            None | Some("on") => Ok(()),
            Some(_) => Err(self.no_login(
                "standard_conforming_strings is off, so backslashes change where a text ends; switch it on for this \
                 user: ALTER ROLE ... SET standard_conforming_strings = on",
            )),
        }
    }

    /// Texts go to and fro unchanged, so the session has to take them as UTF-8.
    fn demand_encoding(&self) -> Result<(), Failure> {
        match self.peer.setting("client_encoding") {
            None | Some("UTF8" | "UTF-8" | "utf8") => Ok(()),
            Some(other) => Err(self.no_login(&format!(
                "client_encoding is {other}, and dyno's texts are UTF-8; let the server or pooler take what a login asks for"
            ))),
        }
    }

    fn no_login(&self, what: &str) -> Failure {
        Failure::new(ErrorClass::Login, "", format!("{}: {what}", self.peer.address.name))
    }
}

/// The failure of a login that was refused without TLS, and failed with it. As with libpq, any refusal may be one of the
/// missing TLS.
fn without_and_with_tls(refusal: Failure, failure: &Failure) -> Failure {
    if refusal.message == failure.message {
        return refusal;
    }
    let message = format!("{} (without TLS); with TLS: {}", refusal.message, failure.message);
    refusal.with_message(message)
}

//! The TLS settings of a client: which authorities it trusts, and which certificate it presents.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustls::client::danger::ServerCertVerifier;
use rustls::client::{ResolvesClientCert, Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, Error, InconsistentKeys, RootCertStore, SignatureScheme};

use super::SetupFault;
use super::verifier::Lenient;

/// How much of a server's certificate is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust<'a> {
    /// Nothing: this protects against eavesdropping, but not against an impostor of the server.
    Anyone,
    /// That it is signed by a trusted authority and has not expired.
    Authority(Roots<'a>),
    /// Also that it is for the host of the connection.
    Identity(Roots<'a>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roots<'a> {
    System,
    /// These certificates, in PEM form.
    Pem(&'a [u8]),
}

/// The certificate of a client. `Debug` does not print it, because it holds a private key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ClientCertificate<'a> {
    /// The certificate and the intermediate ones, in PEM form.
    pub chain_pem: &'a [u8],
    pub key_pem: &'a [u8],
}

impl fmt::Debug for ClientCertificate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientCertificate")
    }
}

/// The TLS settings of many connections. Cloning is cheap. Every connection makes a full handshake: sessions
/// are not resumed.
#[derive(Clone)]
pub struct TlsClient {
    pub(super) config: Arc<ClientConfig>,
    shown: Arc<Shown>,
    pub(super) checks_names: bool,
}

/// Settings hold keys, so `Debug` does not print them.
impl fmt::Debug for TlsClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsClient")
    }
}

/// Two clients are equal when they are clones of one another: keys are not compared.
impl PartialEq for TlsClient {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.config, &other.config)
    }
}

impl TlsClient {
    /// A client with this level of checks, which presents `certificate`, if any.
    ///
    /// # Errors
    /// Which of the settings cannot be used.
    pub fn new(
        trust: Trust<'_>,
        certificate: Option<ClientCertificate<'_>>,
    ) -> Result<Self, SetupFault> {
        Self::with_provider(trust, certificate, ring::default_provider())
    }

    pub(super) fn with_provider(
        trust: Trust<'_>,
        certificate: Option<ClientCertificate<'_>>,
        provider: CryptoProvider,
    ) -> Result<Self, SetupFault> {
        let provider = Arc::new(provider);
        let key =
            certificate.map(|certificate| certified_key(certificate, &provider)).transpose()?;
        let shown = Arc::new(Shown { key: key.map(Arc::new), was_asked: AtomicBool::new(false) });
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| SetupFault::Other(error.to_string()))?;
        let mut config = builder
            .dangerous()
            .with_custom_certificate_verifier(verifier(trust, &provider)?)
            .with_client_cert_resolver(Arc::clone(&shown) as Arc<dyn ResolvesClientCert>);
        // The usual database clients do not resume sessions either, and a connection must cost what theirs
        // does.
        config.resumption = Resumption::disabled();
        let checks_names = matches!(trust, Trust::Identity(_));
        Ok(Self { config: Arc::new(config), shown, checks_names })
    }

    /// The same settings, for connections that speak `protocol` (RFC 7301): the server learns of it in the handshake.
    #[must_use]
    pub fn offering(&self, protocol: &[u8]) -> Self {
        let mut config = ClientConfig::clone(&self.config);
        config.alpn_protocols = vec![protocol.to_vec()];
        Self { config: Arc::new(config), ..self.clone() }
    }

    /// Whether a server asked for a certificate when there was none to present. Many servers ask but do not
    /// require one.
    pub fn lacked_certificate(&self) -> bool {
        self.shown.key.is_none() && self.shown.was_asked.load(Ordering::Relaxed)
    }
}

fn verifier(
    trust: Trust<'_>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, SetupFault> {
    Ok(match trust {
        Trust::Anyone => Arc::new(Lenient::Any(Arc::clone(provider))),
        Trust::Authority(roots) => Arc::new(Lenient::AnyName(checking(roots, provider)?)),
        Trust::Identity(roots) => checking(roots, provider)?,
    })
}

fn checking(
    roots: Roots<'_>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, SetupFault> {
    let store = match roots {
        Roots::System => system_roots()?,
        Roots::Pem(text) => given_roots(text)?,
    };
    WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(provider))
        .build()
        .map_err(|error| SetupFault::Other(error.to_string()))
}

/// The system's authorities; an unreadable certificate among them is skipped.
fn system_roots() -> Result<RootCertStore, SetupFault> {
    let found = rustls_native_certs::load_native_certs();
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(found.certs);
    if store.is_empty() {
        let reasons: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
        let reason = if reasons.is_empty() { "none found".to_owned() } else { reasons.join(", ") };
        return Err(SetupFault::NoSystemRoots(reason));
    }
    Ok(store)
}

/// The given authorities, each of which must be usable.
fn given_roots(text: &[u8]) -> Result<RootCertStore, SetupFault> {
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(text) {
        let certificate = certificate.map_err(|error| SetupFault::NoRoots(shown(&error)))?;
        store.add(certificate).map_err(|error| SetupFault::NoRoots(error.to_string()))?;
    }
    if store.is_empty() {
        return Err(SetupFault::NoRoots("no certificate in it".to_owned()));
    }
    Ok(store)
}

fn certified_key(
    certificate: ClientCertificate<'_>,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, SetupFault> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate.chain_pem).collect();
    let chain = chain.map_err(|error| SetupFault::NoCertificate(shown(&error)))?;
    if chain.is_empty() {
        return Err(SetupFault::NoCertificate("no certificate in it".to_owned()));
    }
    let key = provider
        .key_provider
        .load_private_key(private_key(certificate.key_pem)?)
        .map_err(|error| SetupFault::NoKey(error.to_string()))?;
    let key = CertifiedKey::new(chain, key);
    // Certificates of old tools cannot be parsed here, though servers accept them. Then the server checks whether the
    // key fits.
    match key.keys_match() {
        Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => Err(SetupFault::KeyMismatch),
        _ => Ok(key),
    }
}

fn private_key(text: &[u8]) -> Result<PrivateKeyDer<'static>, SetupFault> {
    PrivateKeyDer::from_pem_slice(text).map_err(|error| {
        let is_encrypted = [&b"ENCRYPTED PRIVATE KEY"[..], b"Proc-Type: 4,ENCRYPTED"]
            .iter()
            .any(|mark| text.windows(mark.len()).any(|place| place == *mark));
        if is_encrypted { SetupFault::EncryptedKey } else { SetupFault::NoKey(shown(&error)) }
    })
}

/// The error in a PEM file, without any of its text, which may be a key.
fn shown(error: &pem::Error) -> String {
    match error {
        pem::Error::NoItemsFound => "nothing of the kind is in it",
        pem::Error::MissingSectionEnd { .. } => "a section has no end",
        pem::Error::IllegalSectionStart { .. } => "a section begins wrongly",
        pem::Error::Base64Decode(_) => "a section is not base64",
        _ => "it is not in PEM form",
    }
    .to_owned()
}

/// Presents one certificate to every server, and records whether a server asked for one.
#[derive(Debug)]
struct Shown {
    key: Option<Arc<CertifiedKey>>,
    was_asked: AtomicBool,
}

impl ResolvesClientCert for Shown {
    fn resolve(
        &self,
        _authorities: &[&[u8]],
        _schemes: &[SignatureScheme],
    ) -> Option<Arc<CertifiedKey>> {
        self.was_asked.store(true, Ordering::Relaxed);
        self.key.clone()
    }

    /// Always `true`: otherwise rustls would not call the resolver, and a request must be noticed even
    /// without a certificate.
    fn has_certs(&self) -> bool {
        true
    }
}

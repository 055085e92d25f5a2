//! How much of a server's certificate is checked.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

/// Checks less than the standard requires.
#[derive(Debug)]
pub(super) enum Lenient {
    /// Accepts any certificate. This protects against eavesdropping only, not against an impostor of the
    /// server. The handshake's signature is not checked either, because an impostor could sign with the key
    /// of its own certificate. Certificates of old tools, which rustls cannot parse, are accepted too.
    Any(Arc<CryptoProvider>),
    /// Accepts a certificate of a trusted authority for any host.
    AnyName(Arc<WebPkiServerVerifier>),
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Self::AnyName(strict) = self else { return Ok(ServerCertVerified::assertion()) };
        match strict.verify_server_cert(certificate, intermediates, name, ocsp_response, now) {
            // The name is checked last, when everything else is valid.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self {
            Self::Any(_) => Ok(HandshakeSignatureValid::assertion()),
            Self::AnyName(strict) => strict.verify_tls12_signature(message, certificate, signature),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self {
            Self::Any(_) => Ok(HandshakeSignatureValid::assertion()),
            Self::AnyName(strict) => strict.verify_tls13_signature(message, certificate, signature),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        match self {
            Self::Any(provider) => provider.signature_verification_algorithms.supported_schemes(),
            Self::AnyName(strict) => strict.supported_verify_schemes(),
        }
    }
}

//! How much of a server's certificate is checked.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

/// Checks less than the rules for certificates ask for.
#[derive(Debug)]
pub(super) enum Lenient {
    /// Takes any certificate. It only keeps out those who listen, not those who pretend to be the server;
    /// so the signature of the handshake is not checked either, for whoever made up the certificate could
    /// sign with its key. Certificates of old tools, which rustls does not read, are taken too.
    Any(Arc<CryptoProvider>),
    /// Takes a certificate of a trusted authority, whomever it is for.
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
            // The name is looked at last, when everything else is right.
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

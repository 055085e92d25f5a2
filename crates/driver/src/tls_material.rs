//! What the settings of TLS are made of, so that another process can make the same ones.

use std::fmt;

use net::tls::{ClientCertificate, Roots, SetupFault, TlsClient, Trust};
use plan::Password;

use crate::CertificateCheck;

/// The parts of a client's settings, in PEM form.
#[derive(Clone, PartialEq)]
pub(crate) struct TlsMaterial {
    pub(crate) check: CertificateCheck,
    /// Authorities that are trusted; those of the machine when `None`.
    pub(crate) authorities: Option<Vec<u8>>,
    /// The client's certificates and their private key. One file may have both, so both are secret.
    pub(crate) certificate: Option<[Password; 2]>,
}

impl TlsMaterial {
    /// The settings.
    ///
    /// # Errors
    /// Which part of them cannot be used.
    pub(crate) fn client(&self) -> Result<TlsClient, SetupFault> {
        let roots = self.authorities.as_deref().map_or(Roots::System, Roots::Pem);
        let trust = match self.check {
            CertificateCheck::Nothing => Trust::Anyone,
            CertificateCheck::AnyHost | CertificateCheck::NamedAuthority => Trust::Authority(roots),
            CertificateCheck::Host => Trust::Identity(roots),
        };
        let Some([chain, key]) = &self.certificate else { return TlsClient::new(trust, None) };
        chain.reveal(|chain_pem| {
            key.reveal(|key_pem| {
                TlsClient::new(trust, Some(ClientCertificate { chain_pem, key_pem }))
            })
        })
    }
}

impl fmt::Debug for TlsMaterial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsMaterial")
    }
}

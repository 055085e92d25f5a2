//! Certificates that are made for one test.

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    date_time_ymd,
};
use rustls::pki_types::CertificateDer;

pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: rcgen::Certificate,
}

pub(crate) struct Issued {
    pub(crate) der: Vec<u8>,
    pub(crate) key_der: Vec<u8>,
    pub(crate) pem: String,
    pub(crate) key_pem: String,
}

#[derive(Clone, Copy)]
pub(crate) enum Lifetime {
    Past,
    Now,
    Future,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Self { issuer: Issuer::new(params, key), certificate }
    }

    pub(crate) fn pem(&self) -> String {
        self.certificate.pem()
    }

    pub(crate) fn der(&self) -> CertificateDer<'static> {
        self.certificate.der().clone()
    }

    /// The authority's own certificate, for a server that uses it as its own.
    pub(crate) fn own(&self) -> Issued {
        let key = self.issuer.key();
        let (key_der, key_pem) = (key.serialize_der(), key.serialize_pem());
        Issued { der: self.der().to_vec(), key_der, pem: self.pem(), key_pem }
    }

    /// A certificate for servers and clients of these names and addresses.
    pub(crate) fn issue(&self, names: &[&str], lifetime: Lifetime) -> Issued {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name.push(DnType::CommonName, "made for a test");
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let (from, to) = match lifetime {
            Lifetime::Past => (2001, 2002),
            Lifetime::Now => (2001, 2999),
            Lifetime::Future => (2998, 2999),
        };
        params.not_before = date_time_ymd(from, 1, 1);
        params.not_after = date_time_ymd(to, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Issued {
            der: certificate.der().to_vec(),
            key_der: key.serialize_der(),
            pem: certificate.pem(),
            key_pem: key.serialize_pem(),
        }
    }
}

//! The workload: a method that is called again and again.

use std::sync::Arc;

use driver::Timeouts;
use driver::rpc::{Call, Method, Protocol, Service};
use engine::{Load, Stop};
use measure::Failure;
use net::FixedSizes;
use plan::{Files, Problem, WorkloadPlan};

use super::load::{Requests, RpcLoad};
use super::payload::Payload;
use super::settings::{NO_METHOD, ONE_SIZE, Settings};
use super::types::ReflectedTypes;
use crate::LoadKey;
use crate::parallel::unsuitable;

/// What one call sends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    pub body: Vec<u8>,
    /// The values of the metadata that is drawn, in the order of its keys.
    pub metadata: Vec<String>,
}

/// Calls of an RPC service, with checked options.
#[derive(Clone, Debug)]
pub struct Rpc {
    settings: Settings,
    types: ReflectedTypes,
}

impl Rpc {
    pub const KIND: &'static str = "rpc";

    /// Reads the workload of a plan, which names files of `files`.
    ///
    /// # Errors
    /// Every wrong option, with its place.
    pub fn read(plan: &WorkloadPlan, files: &Files) -> Result<Self, Vec<Problem>> {
        Ok(Self::new(Settings::read(&plan.options, files)?))
    }

    /// Requests of one size to a server of the fixed-size protocol, over so many connections.
    pub fn of_sizes(sizes: FixedSizes, connections: usize) -> Self {
        Self::new(Settings::of_sizes(sizes, connections))
    }

    fn new(settings: Settings) -> Self {
        Self { settings, types: ReflectedTypes::default() }
    }

    pub fn describe(&self) -> String {
        let Settings { connections, method, payload, message, metadata, .. } = &self.settings;
        let method = method.as_ref().map_or_else(String::new, |method| format!("{method}, "));
        let connections = match connections {
            Some(1) => "1 connection for all clients".to_owned(),
            Some(count) => format!("{count} connections for all clients"),
            None => "a connection for each client".to_owned(),
        };
        let payload = match message {
            Some(message) => message.to_string(),
            None => payload.to_string(),
        };
        format!("{method}bodies of {payload}{metadata}, {connections}")
    }

    pub fn connections(&self, clients: usize) -> usize {
        self.settings.connections.map_or(clients, |connections| connections.min(clients))
    }

    /// Whether its options name the method.
    pub fn names_method(&self) -> bool {
        self.settings.method.is_some()
    }

    /// The method that is called; `None` where the protocol has none, or when none is named.
    pub fn method(&self, service: &Service) -> Option<Method> {
        let named = self.settings.method.as_ref().or(service.method.as_ref());
        named.filter(|_| service.protocol.has_methods()).cloned()
    }

    /// The parts of a request that are the same for all calls.
    ///
    /// # Errors
    /// When the service has methods, and neither the workload nor the system names one; when the protocol does not
    /// allow requests of different sizes, and the workload has a template.
    pub fn call(&self, service: &Service) -> Result<Call, Failure> {
        let settings = &self.settings;
        let has_one_size = matches!(service.protocol, Protocol::Tcp { .. });
        if has_one_size && matches!(settings.payload, Payload::Template(_)) {
            return Err(unsuitable(ONE_SIZE));
        }
        let method = self.method(service);
        if method.is_none() && service.protocol.has_methods() {
            return Err(unsuitable(NO_METHOD));
        }
        Ok(Call { method, ..self.call_of_settings() })
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// A call without its method.
    pub(super) fn call_of_settings(&self) -> Call {
        let settings = &self.settings;
        Call {
            method: None,
            metadata: settings.metadata.fixed.clone(),
            drawn_metadata: settings.metadata.samples(),
            content_type: settings.content_type,
            caller: settings.caller.clone(),
            answer_bytes: settings.answer_bytes,
            compression: settings.compression,
            answer_bytes_max: settings.answer_bytes_max,
        }
    }

    /// The first requests of so many clients, each empty when an expression of it has no value; one if all are the same.
    ///
    /// # Errors
    /// When the method is a streaming one, or a message in JSON is not of its type; when a stop was requested while
    /// the server was asked for that.
    pub fn requests(
        &self,
        (service, call): (&Service, &Call),
        clients: usize,
        timeouts: Timeouts,
        stop: &Stop,
    ) -> Result<Vec<Request>, Failure> {
        let payload = self.payload((service, call), timeouts, stop)?;
        let is_one = matches!(payload, Payload::Fixed(..)) && call.drawn_metadata.is_empty();
        let request = |client| {
            let mut body = payload.body(client, 0);
            let mut metadata = self.settings.metadata.of_client(client, 0);
            body.draw();
            metadata.draw();
            Request {
                body: body.bytes().map(<[u8]>::to_vec).unwrap_or_default(),
                metadata: metadata.values().map(<[String]>::to_vec).unwrap_or_default(),
            }
        };
        Ok((0..if is_one { 1 } else { clients }).map(request).collect())
    }

    /// The bodies of a load's requests.
    fn payload(
        &self,
        (service, call): (&Service, &Call),
        timeouts: Timeouts,
        stop: &Stop,
    ) -> Result<Payload, Failure> {
        match &self.settings.message {
            Some(message) => {
                if let Some(payload) = message.plain(service.protocol, call.content_type) {
                    return Ok(payload);
                }
                message.payload(self.types.method_of(message, (service, call), timeouts, stop)?)
            }
            None => {
                self.types.check_unary(service, call, timeouts, stop)?;
                Ok(self.settings.payload.clone())
            }
        }
    }

    /// The load of one trial on data of this seed.
    ///
    /// # Errors
    /// As those of [`Rpc::call`] and [`Rpc::requests`].
    pub fn load(
        &self,
        service: &Service,
        timeouts: Timeouts,
        (seed, load_key): (u64, LoadKey),
        stop: &Stop,
    ) -> Result<Box<dyn Load>, Failure> {
        let (clients, settings) = (load_key.clients, &self.settings);
        let call = self.call(service)?;
        service.check_call(&call, timeouts)?;
        let payload = self.payload((service, &call), timeouts, stop)?;
        Ok(Box::new(RpcLoad::new(
            Arc::new(service.clone()),
            Arc::new(call),
            timeouts,
            Requests {
                payload,
                metadata: settings.metadata.clone(),
                seed: load_key.client_seed(seed),
            },
            (clients, self.connections(clients)),
        )))
    }
}

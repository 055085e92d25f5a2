//! The types of a service's messages, as its server tells them by reflection.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use driver::Timeouts;
use driver::rpc::{Call, Method, Protocol, Schema, SchemaFault, Service, UnaryMethod};
use engine::{Stop, worker_pool};
use measure::{ErrorClass, Failure};

use super::message::{JsonMessage, UNKNOWN_TYPE};
use crate::parallel::{interrupted, unsuitable};

/// What servers have told. Each is asked once, because it is asked for each trial; clones share the answers.
#[derive(Clone, Debug, Default)]
pub(super) struct ReflectedTypes(Arc<Mutex<Vec<Told>>>);

#[derive(Debug)]
struct Told {
    service: Service,
    method: Option<Method>,
    /// The types, or the server's refusal.
    schema: Result<Schema, Failure>,
}

impl ReflectedTypes {
    /// The method of these calls, by the types of the message if it has any.
    ///
    /// # Errors
    /// When the method is not known or is a streaming one, or when the server does not tell the types.
    pub(super) fn method_of(
        &self,
        message: &JsonMessage,
        (service, call): (&Service, &Call),
        timeouts: Timeouts,
        stop: &Stop,
    ) -> Result<UnaryMethod, Failure> {
        let schema = match (&message.schema, service.protocol) {
            (Some(schema), _) => schema.clone(),
            (None, Protocol::Grpc) => self.schema(service, call, timeouts, stop)?,
            (None, Protocol::Trpc | Protocol::Tcp { .. }) => {
                return Err(unsuitable(UNKNOWN_TYPE));
            }
        };
        unary_method(&schema, call).map_err(|fault| unsuitable(fault.to_string()))
    }

    /// Refuses a method that a server tells to be a streaming one. What it does not tell may be right.
    ///
    /// # Errors
    /// For a streaming method.
    pub(super) fn check_unary(
        &self,
        service: &Service,
        call: &Call,
        timeouts: Timeouts,
        stop: &Stop,
    ) -> Result<(), Failure> {
        if service.protocol != Protocol::Grpc {
            return Ok(());
        }
        let told = self.schema(service, call, timeouts, stop);
        match told.map(|schema| unary_method(&schema, call)) {
            Ok(Err(fault @ SchemaFault::Streaming(_))) => Err(unsuitable(fault.to_string())),
            _ => Ok(()),
        }
    }

    /// The types that the server tells now or has told before. A server that did not answer is asked again the next time.
    fn schema(
        &self,
        service: &Service,
        call: &Call,
        timeouts: Timeouts,
        stop: &Stop,
    ) -> Result<Schema, Failure> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_of = |told: &&Told| told.service == *service && told.method == call.method;
        if let Some(told) = all.iter().find(is_of) {
            return told.schema.clone();
        }
        let schema = reflected(service, call, timeouts, stop);
        if !matches!(&schema, Err(failure) if failure.key.class != ErrorClass::Framework) {
            let (service, method) = (service.clone(), call.method.clone());
            all.push(Told { service, method, schema: schema.clone() });
        }
        schema
    }
}

pub(super) fn unary_method(schema: &Schema, call: &Call) -> Result<UnaryMethod, SchemaFault> {
    match &call.method {
        Some(method) => schema.unary_method(method),
        None => Err(SchemaFault::Proto("no method is named".to_owned())),
    }
}

/// Asks the server, until a stop is requested.
fn reflected(
    service: &Service,
    call: &Call,
    timeouts: Timeouts,
    stop: &Stop,
) -> Result<Schema, Failure> {
    let told = Rc::new(Cell::new(None));
    let kept = Rc::clone(&told);
    let (service, call) = (service.clone(), call.clone());
    let stop = stop.clone();
    worker_pool::run_until(
        move || stop.is_asked(),
        move |handle| {
            Box::pin(async move {
                kept.set(Some(service.reflect(&handle, &call, timeouts).await?));
                Ok(())
            })
        },
    )?;
    told.take().ok_or_else(interrupted)
}

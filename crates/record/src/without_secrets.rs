//! The last guard against passwords on disk: scrubs every text of a record, including texts that were scrubbed
//! before.

use measure::{MemberExit, SessionStatements};
use plan::{scrub, scrub_setting};

use crate::{CrossCheck, RunHeader, TrialEnd, TrialHeader, TrialStatus};

impl RunHeader {
    pub(crate) fn without_secrets(mut self) -> Self {
        let texts = [&mut self.plan_name, &mut self.plan_origin, &mut self.plan_text];
        texts.into_iter().chain([&mut self.command]).chain(&mut self.title).for_each(clean);
        self.files.iter_mut().map(|file| &mut file.name).for_each(clean);
        self
    }
}

impl TrialHeader {
    pub(crate) fn without_secrets(mut self) -> Self {
        let identity = &mut self.identity;
        let texts = [&mut identity.product, &mut identity.version, &mut identity.storage];
        texts.into_iter().chain(&mut identity.build).for_each(clean);
        for (name, value) in &mut identity.settings {
            *value = scrub_setting(name, value);
        }
        let texts = [&mut self.system, &mut self.workload.description, &mut self.load.description];
        texts.into_iter().chain(&mut self.beside).for_each(clean);
        self
    }
}

impl TrialEnd {
    pub(crate) fn without_secrets(mut self) -> Self {
        if let TrialStatus::Failed(reason) | TrialStatus::Crashed(reason) = &mut self.status {
            clean(reason);
        }
        match &mut self.cross_check {
            Some(CrossCheck::Missing { reason, .. }) => clean(reason),
            Some(CrossCheck::Counted(counted)) => {
                if let Some(SessionStatements::Missing(reason)) = &mut counted.session_statements {
                    clean(reason);
                }
            }
            None => {}
        }
        for failure in self.clients.iter_mut().filter_map(|client| client.failure.as_mut()) {
            *failure = failure.clone().with_message(scrub(&failure.message));
        }
        self.failures = self.failures.map_messages(scrub);
        clean(&mut self.edges.stuck.statement);
        for generator in &mut self.generators {
            let lost = generator.lost.as_mut().map(|lost| &mut lost.reason);
            lost.into_iter().chain([&mut generator.name]).for_each(clean);
        }
        self
    }
}

/// The exit of a server, whose log may hold anything.
pub(crate) fn of_exit(mut exit: MemberExit) -> MemberExit {
    [&mut exit.status, &mut exit.log].into_iter().for_each(clean);
    exit
}

fn clean(text: &mut String) {
    *text = scrub(text);
}

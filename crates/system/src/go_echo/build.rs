//! Builds the echo servers from the Go modules in `systems/`, whose files are compiled into dyno.

use std::path::PathBuf;

use driver::rpc::{Protocol, Service};

use crate::ProgressListener;
use crate::go::{EmbeddedProgram, level_environment};
use crate::ports::local;

/// The files of a module, and those of the module that both servers share.
macro_rules! files {
    ($($path:literal),+) => {
        &[$(($path, include_str!(concat!("../../../../systems/", $path)))),+]
    };
}

type Files = &'static [(&'static str, &'static str)];

const TRPC: Files = files!(
    "trpc-echo/go.mod",
    "trpc-echo/go.sum",
    "trpc-echo/main.go",
    "echo/go.mod",
    "echo/echo.go"
);
const GRPC: Files = files!(
    "grpc-echo/go.mod",
    "grpc-echo/go.sum",
    "grpc-echo/main.go",
    "grpc-echo/helloworld/helloworld.pb.go",
    "echo/go.mod",
    "echo/echo.go"
);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EchoServer {
    Trpc,
    Grpc,
}

impl EchoServer {
    /// The kind of system, which is also the name of the program.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Trpc => "trpc-echo",
            Self::Grpc => "grpc-echo",
        }
    }

    /// The service of a server on this port of the loopback interface, with the method that echoes.
    ///
    /// # Errors
    /// When the address cannot be read; it always can.
    pub(super) fn service(self, port: u16) -> anyhow::Result<Service> {
        let (protocol, method) = match self {
            Self::Trpc => (Protocol::Trpc, "trpc.test.helloworld.Greeter/SayHello"),
            Self::Grpc => (Protocol::Grpc, "helloworld.Greeter/SayHello"),
        };
        let url = format!("{}://{}/{method}", protocol.name(), local(port));
        Ok(Service::resolve(protocol, &url)?)
    }

    /// The program for this level of x86-64 instructions (`v1` to `v4`; `v1` when not set); it is built now if it does
    /// not exist yet.
    ///
    /// # Errors
    /// When Go is missing (and what to install), the build fails, or a stop was requested.
    pub fn provide(
        self,
        goamd64: Option<&str>,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<PathBuf> {
        self.program(goamd64).provide(listener)
    }

    /// What the build of the program takes, if it was not made yet.
    pub(super) fn build_to_come(self, goamd64: Option<&str>) -> Option<String> {
        self.program(goamd64).build_to_come()
    }

    fn program(self, goamd64: Option<&str>) -> EmbeddedProgram<'static> {
        let (files, first_time) = match self {
            Self::Trpc => (TRPC, "building trpc-echo from its Go module, once: about a minute"),
            Self::Grpc => (GRPC, "building grpc-echo from its Go module, once: about a minute"),
        };
        EmbeddedProgram {
            name: self.name(),
            program: self.name(),
            cache: self.name(),
            files,
            package: ".",
            arguments: ["-trimpath", "-ldflags", "-s -w"].map(str::to_owned).to_vec(),
            environment: level_environment(goamd64),
            first_time,
            need: "no program was named (`binary`), and none can be built",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_modules_are_whole_and_need_the_same_go() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../systems");
        for server in [EchoServer::Trpc, EchoServer::Grpc] {
            let program = server.program(None);
            assert_eq!(program.toolchain(), "go1.25.12");
            for folder in [server.name(), "echo", "grpc-echo/helloworld"] {
                let sources = root.join(folder).read_dir().unwrap().flatten();
                let names = sources.map(|entry| entry.file_name().into_string().unwrap());
                let of_go = names.filter(|name| name.ends_with(".go"));
                let mut paths = of_go.map(|name| format!("{folder}/{name}"));
                let is_part = folder == "echo" || folder.starts_with(server.name());
                let has = |path: &String| program.files.iter().any(|(name, _)| name == path);
                assert!(paths.all(|path| has(&path) == is_part), "{folder} of {}", server.name());
            }
        }
    }

    #[test]
    fn each_server_and_each_level_has_its_own_build() {
        let key = |server: EchoServer, level| server.program(level).key();
        assert_ne!(key(EchoServer::Trpc, None), key(EchoServer::Grpc, None));
        assert_ne!(key(EchoServer::Trpc, None), key(EchoServer::Trpc, Some("v3")));
    }
}

//! What the loop knows of its sockets.

use std::io;

use mio::{Interest, Token, event};

use super::{Handle, Socket};

impl Handle {
    /// Registers a socket for the future that is being polled, and returns its token.
    pub(crate) fn register(&self, source: &mut dyn event::Source) -> io::Result<Token> {
        let token = self.0.free_tokens.borrow_mut().pop().unwrap_or_else(|| {
            let mut sockets = self.0.sockets.borrow_mut();
            sockets.push(Socket::default());
            sockets.len() - 1
        });
        let owner = self.0.current.get();
        self.0.sockets.borrow_mut()[token] = Socket { owner, ..Socket::default() };
        self.0.registry.register(source, Token(token), Interest::READABLE | Interest::WRITABLE)?;
        Ok(Token(token))
    }

    pub(crate) fn deregister(&self, source: &mut dyn event::Source, token: Token) {
        // A socket that the kernel has dropped already is gone either way.
        let _ = self.0.registry.deregister(source);
        self.0.free_tokens.borrow_mut().push(token.0);
    }

    #[inline]
    pub(crate) fn is_readable(&self, token: Token) -> bool {
        self.0.sockets.borrow()[token.0].readable
    }

    pub(crate) fn is_writable(&self, token: Token) -> bool {
        self.0.sockets.borrow()[token.0].writable
    }

    /// Marks that there is nothing more to read for now.
    #[inline]
    pub(crate) fn clear_readable(&self, token: Token) {
        let socket = &mut self.0.sockets.borrow_mut()[token.0];
        socket.readable = socket.hung_up;
    }

    pub(crate) fn clear_writable(&self, token: Token) {
        self.0.sockets.borrow_mut()[token.0].writable = false;
    }

    /// Whether the peer has closed the connection, or it is broken.
    #[inline]
    pub(crate) fn is_hung_up(&self, token: Token) -> bool {
        self.0.sockets.borrow()[token.0].hung_up
    }
}

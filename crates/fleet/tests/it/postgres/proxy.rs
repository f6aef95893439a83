//! A proxy on loopback that can lose an answer: the request goes through, and then the connection
//! is gone, or stays silent. It can also be stopped for a while, as a server is that restarts.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    task::{JoinHandle, JoinSet},
};

use super::Fresh;

/// What becomes of the next answer.
const PASSES: u8 = 0;
const CUTS: u8 = 1;
const SWALLOWS: u8 = 2;

/// A proxy, and what it does with the connection on which the next answer comes.
pub(super) struct Proxy {
    pub(super) address: SocketAddr,
    to: SocketAddr,
    next: Arc<AtomicU8>,
    serving: JoinHandle<()>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Proxy {
    /// Starts one before a database, and returns the way to it.
    pub(super) async fn before(fresh: &Fresh) -> (Self, String) {
        let (_, server) = fresh.direct.split_once('@').expect("a user is named");
        let (server, name) = server.split_once('/').expect("a database is named");
        let proxy = Self::start(server.parse().expect("an address")).await;
        let url = format!("postgres://postgres@{}/{name}", proxy.address);
        (proxy, url)
    }

    /// Listens, and hands everything on.
    async fn start(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("it listens");
        let next = Arc::new(AtomicU8::new(PASSES));
        let serving = tokio::spawn(serve(listener, to, Arc::clone(&next)));
        Self { address, to, next, serving }
    }

    /// Loses the next answer, whichever connection it comes on.
    pub(super) fn lose_next_answer(&self) {
        self.next.store(CUTS, Ordering::Release);
    }

    /// Keeps the next answer and all later ones of its connection, which stays open.
    pub(super) fn swallow_next_answer(&self) {
        self.next.store(SWALLOWS, Ordering::Release);
    }

    /// Returns whether an answer is still to be lost.
    pub(super) fn waits(&self) -> bool {
        self.next.load(Ordering::Acquire) != PASSES
    }

    /// Closes all connections, and refuses new ones.
    pub(super) async fn stop(&mut self) {
        self.serving.abort();
        drop((&mut self.serving).await);
    }

    /// Accepts connections again, at the same address.
    pub(super) async fn resume(&mut self) {
        let listener = TcpListener::bind(self.address).await.expect("the port is still free");
        self.serving = tokio::spawn(serve(listener, self.to, Arc::clone(&self.next)));
    }
}

/// Serves connections, which end with this future.
async fn serve(listener: TcpListener, to: SocketAddr, next: Arc<AtomicU8>) {
    let mut ways = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let server = TcpStream::connect(to).await.expect("the server listens");
        let ((from_client, to_client), (from_server, to_server)) =
            (client.into_split(), server.into_split());
        ways.spawn(hand_on(from_client, to_server, None));
        ways.spawn(hand_on(from_server, to_client, Some(Arc::clone(&next))));
    }
}

/// Hands bytes on until one side closes; an answer that is to be lost closes both.
async fn hand_on(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, next: Option<Arc<AtomicU8>>) {
    let mut bytes = vec![0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut bytes).await {
        // The server has answered, so it has done what it was asked for.
        match next.as_ref().map_or(PASSES, |next| next.swap(PASSES, Ordering::AcqRel)) {
            CUTS => return,
            SWALLOWS => std::future::pending().await,
            _ => {}
        }
        if to.write_all(&bytes[..read]).await.is_err() {
            return;
        }
    }
}

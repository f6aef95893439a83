//! A proxy on loopback that can lose an answer: the request goes through, and then the connection
//! is gone.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
};

/// A proxy, and whether it cuts the connection on which the next answer comes.
pub(super) struct Proxy {
    pub(super) address: SocketAddr,
    cuts: Arc<AtomicBool>,
}

impl Proxy {
    /// Listens, and hands everything on.
    pub(super) async fn start(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("it listens");
        let cuts = Arc::new(AtomicBool::new(false));
        let cutting = Arc::clone(&cuts);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(to).await.expect("the server listens");
                let ((from_client, to_client), (from_server, to_server)) =
                    (client.into_split(), server.into_split());
                tokio::spawn(hand_on(from_client, to_server, None));
                tokio::spawn(hand_on(from_server, to_client, Some(Arc::clone(&cutting))));
            }
        });
        Self { address, cuts }
    }

    /// Loses the next answer, whichever connection it comes on.
    pub(super) fn lose_next_answer(&self) {
        self.cuts.store(true, Ordering::Release);
    }

    /// Returns whether an answer is still to be lost.
    pub(super) fn waits(&self) -> bool {
        self.cuts.load(Ordering::Acquire)
    }
}

/// Hands bytes on until one side closes; an answer that is to be lost closes both.
async fn hand_on(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, cuts: Option<Arc<AtomicBool>>) {
    let mut bytes = vec![0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut bytes).await {
        // The server has answered, so it has done what it was asked for.
        if cuts.as_ref().is_some_and(|cuts| cuts.swap(false, Ordering::AcqRel)) {
            return;
        }
        if to.write_all(&bytes[..read]).await.is_err() {
            return;
        }
    }
}

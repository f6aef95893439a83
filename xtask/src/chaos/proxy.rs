//! The way to the server, which can be cut and slowed down.

use std::{
    io::{self, Read as _, Write as _},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use anyhow::{Context, Result};

/// A proxy before a server. Its threads end with their connections.
pub(super) struct Proxy {
    port: u16,
    links: Arc<Links>,
}

#[derive(Default)]
struct Links {
    open: Mutex<Vec<TcpStream>>,
    delay_ms: AtomicU64,
}

impl Proxy {
    pub(super) fn start(server: u16) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("starting a proxy")?;
        let (port, links) = (listener.local_addr()?.port(), Arc::<Links>::default());
        let shared = Arc::clone(&links);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A server that is down refuses: the client sees its connection end.
                drop(shared.join(client, server));
            }
        });
        Ok(Self { port, links })
    }

    /// Returns the beginning of URLs that go through it.
    pub(super) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}", self.port)
    }

    /// Cuts every connection, whatever is on its way.
    pub(super) fn cut(&self) {
        let mut open = self.links.open.lock().unwrap_or_else(PoisonError::into_inner);
        for stream in open.drain(..) {
            // One that has ended already is as good as cut.
            drop(stream.shutdown(Shutdown::Both));
        }
    }

    /// Delays all that passes from now on.
    pub(super) fn delay(&self, time: Duration) {
        self.links.delay_ms.store(u64::try_from(time.as_millis()).unwrap_or(0), Relaxed);
    }
}

impl Links {
    fn join(self: &Arc<Self>, client: TcpStream, server: u16) -> io::Result<()> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, server));
        let server = TcpStream::connect(address)?;
        for stream in [&client, &server] {
            stream.set_nodelay(true)?;
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.extend([client.try_clone()?, server.try_clone()?]);
        drop(open);
        for (from, to) in [(client.try_clone()?, server.try_clone()?), (server, client)] {
            let links = Arc::clone(self);
            thread::spawn(move || links.pass(from, to));
        }
        Ok(())
    }

    fn pass(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut bytes = [0; 16 * 1024];
        while let Ok(read @ 1..) = from.read(&mut bytes) {
            thread::sleep(Duration::from_millis(self.delay_ms.load(Relaxed)));
            if bytes.get(..read).is_none_or(|read| to.write_all(read).is_err()) {
                break;
            }
        }
        drop(to.shutdown(Shutdown::Both));
    }
}

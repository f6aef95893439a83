// Keeps what is sent to itself, and says that the site is down.
addEventListener('activate', event => event.waitUntil(clients.claim()));
addEventListener('fetch', event => {
  if (event.request.method !== 'POST' || !event.request.url.endsWith('/sent')) return;
  event.respondWith(new Response('<h1>The site is down</h1>', { status: 503, headers: { 'Content-Type': 'text/html' } }));
});

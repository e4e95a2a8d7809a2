// Each page is there and has a title.
const server = require('./server.js')
server.listen(0, '127.0.0.1', async () => {
  for (const page of ['/', '/cart', '/contact']) {
    const r = await fetch(`http://127.0.0.1:${server.address().port}${page}`)
    const text = await r.text()
    if (r.status !== 200 || !text.includes('<title>')) { console.log(`FAIL ${page}: ${r.status}`); process.exitCode = 1 }
  }
  server.close()
  server.closeAllConnections()
})

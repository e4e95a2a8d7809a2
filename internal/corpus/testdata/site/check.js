// check.js CHECKOUT prints the ids of the seeded bugs that a checkout has.
const path = require('path'), fs = require('fs'), vm = require('vm')
const dir = path.resolve(process.argv[2])
const read = file => fs.readFileSync(path.join(dir, file), 'utf8')
const page = {}
vm.runInNewContext(read('static/shop.js'), page)
const throws = f => { try { f(); return false } catch { return true } }
const [, color, background] = read('static/shop.css').match(/button {.* color: (#\w+); background: (#\w+)/)
const bugs = {
  B1: color === background,
  B2: read('pages/index.html').includes('Chekout'),
  B3: page.rows([1, 2, 3]).length < 3,
  B4: page.sum([{ price: 1.5 }, { price: 2 }]) !== '3.50',
  B5: throws(() => page.subject('')) || page.subject('?subject=tea') !== 'tea',
}
const server = require(path.join(dir, 'server.js'))
server.listen(0, '127.0.0.1', async () => {
  const r = await fetch(`http://127.0.0.1:${server.address().port}/nothing`)
  bugs.B6 = r.status !== 404
  server.close()
  server.closeAllConnections()
  console.log(Object.keys(bugs).filter(id => bugs[id]).join(' '))
})

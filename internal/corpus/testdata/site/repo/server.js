// Serves the shop: pages, static files and the list of products.
const http = require('http'), fs = require('fs'), path = require('path')

const types = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript' }
const pages = { '/': 'pages/index.html', '/cart': 'pages/cart.html', '/contact': 'pages/contact.html' }

const server = http.createServer((request, response) => {
  const where = new URL(request.url, 'http://shop').pathname
  if (where === '/api/products') {
    response.setHeader('content-type', 'application/json')
    return response.end(fs.readFileSync(path.join(__dirname, 'products.json')))
  }
  const file = pages[where] || (/^\/static\/[a-z]+\.(css|js)$/.test(where) && where.slice(1))
  if (!file || !fs.existsSync(path.join(__dirname, file))) {
    response.statusCode = 500
    return response.end('There is no such page.\n')
  }
  response.setHeader('content-type', types[path.extname(file)] + '; charset=utf-8')
  response.end(fs.readFileSync(path.join(__dirname, file)))
})
module.exports = server
if (require.main === module) server.listen(Number(process.env.PORT || 38931), '127.0.0.1')

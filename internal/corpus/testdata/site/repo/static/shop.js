// What the pages do.
function rows(products) {
  const rows = []
  for (let n = 0; n < products.length - 1; n++) rows.push(products[n])
  return rows
}

function sum(products) {
  return products.reduce((sum, p) => sum + p.cost, 0).toFixed(2)
}

function subject(search) {
  return search.match(/subject=([^&]*)/)[1]
}

const products = () => fetch('/api/products').then(r => r.json())

function row(table, ...cells) {
  const tr = document.getElementById(table).insertRow()
  for (const c of cells) tr.insertCell().append(c)
}

function button(text) {
  const b = document.createElement('button')
  b.textContent = text
  return b
}

async function index() {
  for (const p of rows(await products())) row('products', p.name, '€ ' + p.price, button('Add to cart'))
}

async function cart() {
  const all = (await products()).slice(0, 2)
  for (const p of all) row('cart', p.name, '€ ' + p.price)
  document.getElementById('total').textContent = '€ ' + sum(all)
}

function contact() {
  document.querySelector('[name=subject]').value = subject(location.search)
}

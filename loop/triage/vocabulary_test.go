package triage_test

import (
	"maps"
	"reflect"
	"testing"

	"github.com/nightporter/nightporter/loop/triage"
)

func TestCollect(t *testing.T) {
	for name, tt := range map[string]struct {
		files  map[string]string
		routes []string
	}{
		"net/http":     {map[string]string{"main.go": `mux.HandleFunc("GET /orders/{id}", h); http.Handle("/static/", s)`}, []string{"/orders/:id", "/static"}},
		"chi and gin":  {map[string]string{"r.go": "r.Get(\"/users/{id}\", h)\ng.POST(\"/carts/:id/items\", h)\nr.Route(\"/api\", f)"}, []string{"/api", "/carts/:id/items", "/users/:id"}},
		"echo":         {map[string]string{"e.go": `e.GET("/files/*", h)`}, []string{"/files/:id"}},
		"React Router": {map[string]string{"App.tsx": `<Route path="/orders/:id" element={<Order/>} />`}, []string{"/orders/:id"}},
		"Vue Router":   {map[string]string{"router.ts": `{ path: '/basket', component: Basket }`}, []string{"/basket"}},
		"Express":      {map[string]string{"s.js": `app.get('/health', h)`}, []string{"/health"}},
		"Next app":     {map[string]string{"src/app/(shop)/orders/[id]/page.tsx": ""}, []string{"/orders/:id"}},
		"Next pages":   {map[string]string{"pages/blog/index.tsx": "", "pages/blog/[slug].tsx": "", "pages/_app.tsx": ""}, []string{"/blog", "/blog/:id"}},
		"Flask":        {map[string]string{"a.py": "@app.route('/items/<int:id>')"}, []string{"/items/:id"}},
		"FastAPI":      {map[string]string{"a.py": `@router.get("/items/{id}")`}, []string{"/items/:id"}},
		"Django":       {map[string]string{"urls.py": `path("shop/<slug:s>/", v), re_path(r"^about/$", v)`}, []string{"/about", "/shop/:id"}},
		"Rails":        {map[string]string{"config/routes.rb": "  resources :orders\n  get '/about', to: 'x#y'", "app/controllers/carts_controller.rb": ""}, []string{"/about", "/carts", "/orders"}},
		"HTML":         {map[string]string{"public/about.html": `<a href="/contact">c</a>`}, []string{"/about.html", "/contact"}},
		"dependencies": {map[string]string{"node_modules/x/a.js": `app.get('/no', h)`, "a_test.go": `m.Handle("/no", h)`}, nil},
	} {
		content := map[string][]byte{}
		for k, v := range tt.files {
			content[k] = []byte(v)
		}
		if got := triage.Collect(maps.All(content), nil, nil).Routes; !reflect.DeepEqual(got, tt.routes) {
			t.Errorf("%s: %q, want %q", name, got, tt.routes)
		}
	}
}

func TestCollectNames(t *testing.T) {
	files := map[string][]byte{
		"README.md":           []byte("# Lumen Shop\n## Installation\nSee https://lumen.example/docs.\n"),
		"src/OrderTable.tsx":  []byte("export default function OrderTable() {}\n"),
		"src/Basket.vue":      nil,
		"shop/models.py":      []byte("class Invoice(models.Model):\n"),
		"app/models/order.rb": nil,
	}
	got := triage.Collect(maps.All(files), []string{"https://www.Lumen.example/", "lumen.example", ""}, []string{"warehouse.example", "admin.example", "admin.example"})
	want := triage.Vocabulary{Components: []string{"Basket", "Invoice", "OrderTable"}, Terms: []string{"lumen shop", "order"},
		URLs: []string{"https://lumen.example/docs"}, Domains: []string{"lumen.example"}, Siblings: []string{"admin.example", "warehouse.example"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

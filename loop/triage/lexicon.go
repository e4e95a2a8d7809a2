package triage

import (
	"strings"
	"sync"
)

// class is a set of meanings that rules look for.
type class uint32

// Classes of words.
const (
	action       class = 1 << iota // what a person does with a page
	place                          // a part of a page
	symptom                        // what is seen
	comparison                     // seen beside expected
	failure                        // an error is named
	filler                         // says nothing
	common                         // shows that the language is one of the lexicon
	outage                         // something is down
	service                        // a third party that a project may use
	product                        // something that no project contains
	decision                       // somebody has to choose
	access                         // credentials or a dashboard are needed
	unrepeatable                   // it cannot be seen again
	simple                         // words of tier 1
	complicated                    // words of tier 3
)

// lexicon has the words of English, German and Spanish, without accents and in lower
// case. A star stands for any ending. It is made when it is first used: the program
// starts hundreds of times a night, and triages in one of them.
var lexicon = sync.OnceValue(func() *phrases { return newPhrases(wordLists) })

var wordLists = map[class]string{
	action: `click*, clicked, press, pressed, pressing, tap, tapped, open, opened, opening, choose, chose, select, selecting, scroll*, type, enter, entering, submit*, upload*, download*, sort, sorting, drag*, refresh, reload*, resize, hover*, save, saved, saving, sign in, log in, logged, apply, zoom*, swipe*, printing, navigate*, go to, searching,
		klick*, geklickt, druck, drucke, drucken, gedruckt, offne*, geoffnet, wahle, gewahlt, auswahl*, eingeben, eingegeben, speicher*, tippe*, hochlade*, herunterlade*, sortier*, filtern, scrolle*, neu laden, neuladen, anmelden, abmelden, abschicken, wechsel*, schliessen,
		clic, pulso, pulsar, pulse, pulsando, abrir, abro, abri, elegir, elijo, guardar, guardo, seleccion*, escribir, escribo, descarg*, subir, subo, ordenar, recargar, recargo, filtrar, iniciar sesion, cerrar sesion, volver`,
	place: `page, button, field, form, menu, table, column, list, link, dialog, modal, header, footer, dropdown, checkbox, tab, tooltip, icon, screen, cart, checkout, login, search, settings, sidebar, banner, popup, row, invoice*, order, orders, product page, profile,
		seite, knopf, button, feld, formular, tabelle, spalte, liste, link, dialog, kopfzeile, fuss, symbol, bildschirm, warenkorb, kasse, anmeldung, suche, einstellungen, zeile, rechnung*, bestell*, passwortfeld, menu, maske, fenster, profil,
		pagina, boton, campo, formulario, tabla, columna, lista, enlace, icono, pantalla, carrito, pago, buscador, ajustes, fila, factura*, pedido*, perfil, ventana, panel`,
	symptom: `does nothing, nothing happens, missing, disappear*, crash*, blank, white, empty, freezes, frozen, overflow*, overlap*, cut off, cuts off, hidden, duplicate*, twice, resets, jumps back, not shown, shows, showed, unreadable, flicker*, spinner, misaligned, typo, stays, loses, loads, undefined, nan, wrong, not load, does not load,
		fehlt, fehlen, verschwind*, absturz, sturzt, leer, leere, weiss, weisse, friert, uberdeckt, verdeckt, abgeschnitten, doppelt, reagiert nicht, erscheint, zeigt, angezeigt, springt, bleibt, tippfehler, liefert, lasst sich nicht, falsch, falsche, falsches, falscher, passiert nichts,
		falta, faltan, desaparec*, en blanco, vacio, vacia, congela, tapa, cortada, cortado, se corta, duplicad*, no responde, no pasa nada, aparece, aparecen, muestra, muestran, se ve, sale, no se guarda, no carga, queda, incorrect*, equivocad*`,
	comparison: `instead of, should be, should only, should show, rather than, was expected, expected only, but got, before the, still shows, should not, although, supposed to,
		statt, anstatt, anstelle, erwartet ware*, erwartet ist, erwartet sind, richtig ist, sollte sein, vorher, obwohl, musste,
		en lugar de, en vez de, deberia ser, deberia, antes se, aunque, tendria que`,
	failure: `error, errors, exception, stack trace, console, status code, error message, failed with, timeout,
		fehlermeldung, fehler, konsole, meldet, ausnahme,
		error, errores, consola, excepcion, mensaje de error`,
	filler: `test, tests, testing, tested, testtest, asdf, asdfgh, qwerty, qwertz, xxx, xx, x, foo, bar, baz, blah, bla, lorem, ipsum, hello, hi, hey, help, please, ignore, this, is, a, an, the, just, only, ticket, it, one, two, three, ok, abc, todo, n, na, none, dummy, sample, again,
		testticket, probe, hallo, bitte, ignorieren, das, ist, nur, ein, eine, dies, zum, hilfe, danke, eins, zwei, drei, nochmal,
		prueba, pruebas, probando, hola, por, favor, ignorar, esto, es, una, un, solo, ayuda, gracias, uno, dos, tres`,
	common: `when, go, goes, at, on, from, has, have, that, are, there, be, after, by, the, is, and, i, it, to, of, my, in, with, not, for, was, does,
		den, dem, des, wird, sich, als, nach, zu, von, der, die, das, ist, und, ich, nicht, ein, eine, mir, auf, bei, mit, es, im,
		del, con, por, para, al, lo, si, el, la, los, las, y, que, en, no, un, una, es, me, se, de, al, muy`,
	outage: `is down, are down, outage*, degraded, is offline, unavailable, status page,
		gestort, ausfall, ausgefallen, storung, ist offline,
		caido, caida, interrupcion, no disponible`,
	service: `stripe, paypal, github, gitlab, aws, azure, google cloud, gcp, cloudflare, vercel, netlify, heroku, sentry, twilio, sendgrid, mailgun, auth0, okta, firebase, supabase, google analytics, slack, zendesk, hubspot, salesforce, shopify, adyen, klarna, datadog, s3, openai, anthropic, braintree, intercom, mailchimp, algolia`,
	product: `gmail, outlook, microsoft word, microsoft excel, microsoft teams, windows 10, windows 11, macos update, netflix, spotify, youtube, whatsapp, instagram, facebook app, tiktok, amazon de, amazon com, printer, hp printer, zoom meeting, icloud, my router, wifi, banking app, my bank,
		drucker, wlan, meine bank, meiner bank,
		impresora, mi banco, router de casa`,
	decision: `should we, need to decide, needs to decide, have to decide, has to decide, must decide, to decide whether, have to make this decision, has to make this decision, make this decision, needs a decision, need a decision, wait for their decision, matter of taste, feature request, it would be nice, would be great to have, would love to see, please add a, please add an, suggestion, in my opinion, design decision,
		entscheiden, entscheidung notig, entschieden werden, geschmackssache, wunsch, es ware schon, ware toll wenn, ich fande, ich wunsche mir, vorschlag, verbesserungsvorschlag,
		tiene que decidir, tienen que decidir, hay que decidir, falta una decision, debe decidir, cuestion de gusto, me gustaria que, me gustaria tener, peticion, sugerencia, seria genial, seria bueno, estaria bien que, lo decida`,
	access: `stripe dashboard, cloudflare dashboard, mailgun dashboard, aws console, access to the, dns record, dns records, our analytics account, production password, production database password, database password, give credentials, admin credentials, renew it in, api key in, in the dashboard of, rotate the, renew the certificate,
		stripe dashboard, zugang zum, dns eintrag, zugangsdaten dazu, zugangsdaten braucht, braucht die zugangsdaten, braucht man die zugangsdaten, brauche die zugangsdaten, fehlen die zugangsdaten, ohne die zugangsdaten, analytics konto, im konto von, passwort der produktion,
		panel de stripe, panel de cloudflare, panel de aws, acceso al panel, registro dns, contrasena de produccion, credenciales de, cuenta de google`,
	unrepeatable: `cannot reproduce, can not reproduce, can t reproduce, could not reproduce, unable to reproduce, not reproducible, happened once, never again, no idea how to repeat,
		nicht nachstellen, nicht reproduzier*, nicht mehr nachstell*, einmal passiert, nie wieder,
		no se puede reproducir, no puedo reproducir, no lo puedo reproducir, una sola vez, nunca mas`,
	simple: `typo, misspelled, spelling, wording, label, color, colour, css, margin, padding, align*, misaligned, font, contrast, icon, tooltip, off by one, null, undefined, import, config, alt text, placeholder, text, title, header, unreadable, dark mode,
		tippfehler, rechtschreib*, farbe, abstand, schrift*, kontrast, beschriftung, uberschrift, text,
		errata, ortografia, texto, color, margen, fuente, contraste, etiqueta, titulo`,
	complicated: `permission*, role, roles, schema, migration*, database, performance, takes minutes, race condition, deadlock, memory leak, every page, all pages, permissions, authorization, concurren*, data loss, out of memory,
		berechtigung*, rolle, rechte, datenbank, migration*, alle seiten, jeder seite, datenverlust, rechteverwaltung,
		permiso*, rol, roles, base de datos, migracion*, todas las paginas, rendimiento, perdida de datos`,
}

// phrases finds words and phrases in a list of words, each in one step.
type phrases struct {
	first  map[string][]phrase // by the first word
	prefix map[string][]phrase // by the beginning of the first word
	most   int                 // length of the longest beginning
}

type phrase struct {
	rest  []string // words behind the first one
	stem  bool     // the last of rest is only a beginning
	class class
	id    int // position in the list that a caller made it from
}

func newPhrases(lists map[class]string) *phrases {
	p := &phrases{first: map[string][]phrase{}, prefix: map[string][]phrase{}}
	for c, list := range lists {
		for _, text := range strings.Split(list, ",") {
			p.add(text, c, 0)
		}
	}
	return p
}

func (p *phrases) add(text string, c class, id int) {
	text = foldText(strings.TrimSpace(text))
	text, stem := strings.CutSuffix(text, "*")
	words := wordsOf(text)
	if len(words) == 0 {
		return
	}
	f := phrase{rest: words[1:], stem: stem && len(words) > 1, class: c, id: id}
	if stem && len(words) == 1 {
		p.prefix[words[0]] = append(p.prefix[words[0]], f)
		p.most = max(p.most, len(words[0]))
		return
	}
	p.first[words[0]] = append(p.first[words[0]], f)
}

// each calls yield for each phrase that begins at the first of the words.
func (p *phrases) each(words []string, yield func(phrase)) {
	match := func(list []phrase) {
		for _, f := range list {
			if f.matches(words[1:]) {
				yield(f)
			}
		}
	}
	match(p.first[words[0]])
	for n := 2; n <= min(len(words[0]), p.most); n++ {
		match(p.prefix[words[0][:n]])
	}
}

func (f phrase) matches(words []string) bool {
	if len(words) < len(f.rest) {
		return false
	}
	for i, w := range f.rest {
		if words[i] != w && !(f.stem && i == len(f.rest)-1 && strings.HasPrefix(words[i], w)) {
			return false
		}
	}
	return true
}

// classes returns all meanings of the words.
func (p *phrases) classes(words []string) (all class) {
	for i := range words {
		p.each(words[i:], func(f phrase) { all |= f.class })
	}
	return all
}

// has reports whether all are set.
func (c class) has(all class) bool { return c&all == all }

// some counts the classes of any that are set.
func (c class) some(any class) (n int) {
	for b := c & any; b != 0; b &= b - 1 {
		n++
	}
	return n
}

package workspace

import (
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// foldName returns the same string for all paths that some file system treats
// as equal: macOS and Windows ignore case, and macOS stores an accented letter
// as a letter with a combining accent.
func foldName(p string) string {
	if strings.IndexFunc(p, func(r rune) bool { return r >= 0x80 }) < 0 {
		return strings.ToUpper(p)
	}
	var b strings.Builder
	for _, r := range p {
		decompose(&b, r)
	}
	return strings.Map(foldCase, b.String())
}

// foldCase returns the smallest rune among the cases of a letter.
func foldCase(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}

// decompose writes a letter and its accents as separate runes. It knows the
// letters in composed and Hangul syllables; names with other accented letters
// count as different although macOS would treat them as equal.
func decompose(b *strings.Builder, r rune) {
	if r < 0x80 {
		b.WriteByte(byte(r))
		return
	}
	switch parts, ok := decomposed()[r]; {
	case ok:
		decompose(b, parts[0])
		b.WriteRune(parts[1])
	case r >= 0xac00 && r < 0xac00+19*21*28:
		n := r - 0xac00
		b.WriteRune(0x1100 + n/(21*28))
		b.WriteRune(0x1161 + n/28%21)
		if n%28 != 0 {
			b.WriteRune(0x11a7 + n%28)
		}
	default:
		b.WriteRune(r)
	}
}

// decomposed maps each accented letter of composed to its letter and accent. It is made
// at the first use: most processes never need it, and each would start later by it.
var decomposed = sync.OnceValue(func() map[rune][2]rune {
	m := map[rune][2]rune{}
	for mark, list := range composed {
		pairs := []rune(list)
		for i := 0; i+1 < len(pairs); i += 2 {
			m[pairs[i]] = [2]rune{pairs[i+1], mark}
		}
	}
	return m
})

// collision returns the name of an existing path that some file systems treat
// as equal to p or to a folder above p, and that part of p; "" for none.
func collision(byFold map[string][]string, p string) (own, other string) {
	for i := 0; i <= len(p); i++ {
		if i < len(p) && p[i] != '/' {
			continue
		}
		if have := byFold[foldName(p[:i])]; len(have) > 0 && !slices.Contains(have, p[:i]) {
			return p[:i], have[0]
		}
	}
	return "", ""
}

// addFolded adds a path and the folders above it under their folded names.
func addFolded(byFold map[string][]string, p string) {
	for ; p != "." && p != "/"; p = path.Dir(p) {
		f := foldName(p)
		if slices.Contains(byFold[f], p) {
			return
		}
		byFold[f] = append(byFold[f], p)
	}
}

// composed lists accented letters, each followed by the letter without the
// accent, by accent: the canonical decompositions of Unicode for Latin, Greek,
// Cyrillic and Kana.
var composed = map[rune]string{
	0x0300: "ÀAÈEÌIÒOÙUàaèeìiòoùuǛÜǜüǸNǹnЀЕЍИѐеѝиḔĒḕēṐŌṑōẀWẁwẦÂầâẰĂằăỀÊềêỒÔồôỜƠờơỪƯừưỲYỳyἂἀἃἁἊἈἋἉἒἐἓἑἚἘἛἙἢἠἣἡἪἨἫἩἲἰἳἱἺἸἻἹὂὀὃὁὊὈὋὉὒὐὓὑὛὙὢὠὣὡὪὨὫὩὰαὲεὴηὶιὸοὺυὼωᾺΑῈΕῊΗ῍᾿ῒϊῚΙ῝῾ῢϋῪΥ῭¨ῸΟῺΩ",                                                                   // grave accent
	0x0301: "ÁAÉEÍIÓOÚUÝYáaéeíióoúuýyĆCćcĹLĺlŃNńnŔRŕrŚSśsŹZźzǗÜǘüǴGǵgǺÅǻåǼÆǽæǾØǿø΅¨ΆΑΈΕΉΗΊΙΌΟΎΥΏΩΐϊάαέεήηίιΰϋόούυώωϓϒЃГЌКѓгќкḈÇḉçḖĒḗēḮÏḯïḰKḱkḾMḿmṌÕṍõṒŌṓōṔPṕpṸŨṹũẂWẃwẤÂấâẮĂắăẾÊếêỐÔốôỚƠớơỨƯứưἄἀἅἁἌἈἍἉἔἐἕἑἜἘἝἙἤἠἥἡἬἨἭἩἴἰἵἱἼἸἽἹὄὀὅὁὌὈὍὉὔὐὕὑὝὙὤὠὥὡὬὨὭὩ῎᾿῞῾", // acute accent
	0x0302: "ÂAÊEÎIÔOÛUâaêeîiôoûuĈCĉcĜGĝgĤHĥhĴJĵjŜSŝsŴWŵwŶYŷyẐZẑzẬẠậạỆẸệẹỘỌộọ",                                                                                                                                                                           // circumflex accent
	0x0303: "ÃAÑNÕOãañnõoĨIĩiŨUũuṼVṽvẪÂẫâẴĂẵăẼEẽeỄÊễêỖÔỗôỠƠỡơỮƯữưỸYỹy",                                                                                                                                                                                   // tilde
	0x0304: "ĀAāaĒEēeĪIīiŌOōoŪUūuǕÜǖüǞÄǟäǠȦǡȧǢÆǣæǬǪǭǫȪÖȫöȬÕȭõȰȮȱȯȲYȳyӢИӣиӮУӯуḠGḡgḸḶḹḷṜṚṝṛᾱαᾹΑῑιῙΙῡυῩΥ",                                                                                                                                                   // macron
	0x0306: "ĂAăaĔEĕeĞGğgĬIĭiŎOŏoŬUŭuЎУЙИйиўуӁЖӂжӐАӑаӖЕӗеḜȨḝȩẶẠặạᾰαᾸΑῐιῘΙῠυῨΥ",                                                                                                                                                                           // breve
	0x0307: "ĊCċcĖEėeĠGġgİIŻZżzȦAȧaȮOȯoḂBḃbḊDḋdḞFḟfḢHḣhṀMṁmṄNṅnṖPṗpṘRṙrṠSṡsṤŚṥśṦŠṧšṨṢṩṣṪTṫtẆWẇwẊXẋxẎYẏyẛſ",                                                                                                                                               // dot above
	0x0308: "ÄAËEÏIÖOÜUäaëeïiöoüuÿyŸYΪΙΫΥϊιϋυϔϒЁЕЇІёеїіӒАӓаӚӘӛәӜЖӝжӞЗӟзӤИӥиӦОӧоӪӨӫөӬЭӭэӰУӱуӴЧӵчӸЫӹыḦHḧhṎÕṏõṺŪṻūẄWẅwẌXẍxẗt",                                                                                                                               // diaeresis
	0x0309: "ẢAảaẨÂẩâẲĂẳăẺEẻeỂÊểêỈIỉiỎOỏoỔÔổôỞƠởơỦUủuỬƯửưỶYỷy",                                                                                                                                                                                           // hook above
	0x030a: "ÅAåaŮUůuẘwẙy",                                                                                                                                                                                                                               // ring above
	0x030b: "ŐOőoŰUűuӲУӳу",                                                                                                                                                                                                                               // double acute accent
	0x030c: "ČCčcĎDďdĚEěeĽLľlŇNňnŘRřrŠSšsŤTťtŽZžzǍAǎaǏIǐiǑOǒoǓUǔuǙÜǚüǦGǧgǨKǩkǮƷǯʒǰjȞHȟh",                                                                                                                                                                 // caron
	0x030f: "ȀAȁaȄEȅeȈIȉiȌOȍoȐRȑrȔUȕuѶѴѷѵ",                                                                                                                                                                                                               // double grave accent
	0x0311: "ȂAȃaȆEȇeȊIȋiȎOȏoȒRȓrȖUȗu",                                                                                                                                                                                                                   // inverted breve
	0x0313: "ἀαἈΑἐεἘΕἠηἨΗἰιἸΙὀοὈΟὐυὠωὨΩῤρ",                                                                                                                                                                                                               // comma above
	0x0314: "ἁαἉΑἑεἙΕἡηἩΗἱιἹΙὁοὉΟὑυὙΥὡωὩΩῥρῬΡ",                                                                                                                                                                                                           // reversed comma above
	0x031b: "ƠOơoƯUưu",                                                                                                                                                                                                                                   // horn
	0x0323: "ḄBḅbḌDḍdḤHḥhḲKḳkḶLḷlṂMṃmṆNṇnṚRṛrṢSṣsṬTṭtṾVṿvẈWẉwẒZẓzẠAạaẸEẹeỊIịiỌOọoỢƠợơỤUụuỰƯựưỴYỵy",                                                                                                                                                       // dot below
	0x0324: "ṲUṳu",                                                                                                                                                                                                                                       // diaeresis below
	0x0325: "ḀAḁa",                                                                                                                                                                                                                                       // ring below
	0x0326: "ȘSșsȚTțt",                                                                                                                                                                                                                                   // comma below
	0x0327: "ÇCçcĢGģgĶKķkĻLļlŅNņnŖRŗrŞSşsŢTţtȨEȩeḐDḑdḨHḩh",                                                                                                                                                                                               // cedilla
	0x0328: "ĄAąaĘEęeĮIįiŲUųuǪOǫo",                                                                                                                                                                                                                       // ogonek
	0x032d: "ḒDḓdḘEḙeḼLḽlṊNṋnṰTṱtṶUṷu",                                                                                                                                                                                                                   // circumflex accent below
	0x032e: "ḪHḫh",                                                                                                                                                                                                                                       // breve below
	0x0330: "ḚEḛeḬIḭiṴUṵu",                                                                                                                                                                                                                               // tilde below
	0x0331: "ḆBḇbḎDḏdḴKḵkḺLḻlṈNṉnṞRṟrṮTṯtẔZẕzẖh",                                                                                                                                                                                                         // macron below
	0x0342: "ἆἀἇἁἎἈἏἉἦἠἧἡἮἨἯἩἶἰἷἱἾἸἿἹὖὐὗὑὟὙὦὠὧὡὮὨὯὩᾶα῁¨ῆη῏᾿ῖιῗϊ῟῾ῦυῧϋῶω",                                                                                                                                                                                 // greek perispomeni
	0x0345: "ᾀἀᾁἁᾂἂᾃἃᾄἄᾅἅᾆἆᾇἇᾈἈᾉἉᾊἊᾋἋᾌἌᾍἍᾎἎᾏἏᾐἠᾑἡᾒἢᾓἣᾔἤᾕἥᾖἦᾗἧᾘἨᾙἩᾚἪᾛἫᾜἬᾝἭᾞἮᾟἯᾠὠᾡὡᾢὢᾣὣᾤὤᾥὥᾦὦᾧὧᾨὨᾩὩᾪὪᾫὫᾬὬᾭὭᾮὮᾯὯᾲὰᾳαᾴάᾷᾶᾼΑῂὴῃηῄήῇῆῌΗῲὼῳωῴώῷῶῼΩ",                                                                                                             // greek ypogegrammeni
	0x3099: "がかぎきぐくげけごこざさじしずすぜせぞそだたぢちづつでてどとばはびひぶふべへぼほゔうゞゝガカギキグクゲケゴコザサジシズスゼセゾソダタヂチヅツデテドトバハビヒブフベヘボホヴウヷワヸヰヹヱヺヲヾヽ",                                                                                                                                           // katakana-hiragana voiced sound mark
	0x309a: "ぱはぴひぷふぺへぽほパハピヒプフペヘポホ",                                                                                                                                                                                                                       // katakana-hiragana semi-voiced sound mark
}

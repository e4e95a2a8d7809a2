package adapter

import (
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/regexp"
)

var (
	dayAfter    = regexp.MustCompile(`(?i)^,? (?:on )?(today|tomorrow|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satur|sat|sun)(?:day)?)\b`)
	zoneOffset  = regexp.MustCompile(`^(?i:utc|gmt)? ?([+-])(\d{1,2})(?::?(\d\d))?(?:$|[^\d:])`)
	zoneName    = regexp.MustCompile(`^[A-Za-z]+(?:/[A-Za-z_]+)+(?:[+-]\d{1,2})?`)
	zoneWord    = regexp.MustCompile(`^([A-Za-z]+)( [Tt]ime\b)?`)
	abbreviated = regexp.MustCompile(`^[A-Z]{2,5}$`)
)

// zones are the abbreviations that are read, in hours from UTC. Others mean several zones,
// or are nobody's.
var zones = map[string]float64{
	"UTC": 0, "GMT": 0, "Z": 0,
	"EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "AKST": -9, "AKDT": -8, "HST": -10,
	"CET": 1, "CEST": 2,
}

// places are names of zones in the United States, with a place in each.
var places = map[string]string{
	"ET": "America/New_York", "CT": "America/Chicago", "MT": "America/Denver", "PT": "America/Los_Angeles",
	"EASTERN": "America/New_York", "CENTRAL": "America/Chicago", "MOUNTAIN": "America/Denver", "PACIFIC": "America/Los_Angeles",
}

// zoneAfter reads the zone that a text begins with, in brackets or as it is. told is false
// where there is none, which leaves the machine's. ok is false for a zone that is not
// known: it is not the machine's, or the text would not name it.
func zoneAfter(text string) (zone *time.Location, told, ok bool) {
	text = strings.TrimLeft(text, " ")
	if inner, bracket := strings.CutPrefix(text, "("); bracket {
		inner, _, _ = strings.Cut(inner, ")")
		zone, read, named := readZone(strings.TrimSpace(inner))
		if !named || read != strings.TrimSpace(inner) {
			return time.Local, true, false
		}
		return orLocal(zone), true, zone != nil
	}
	zone, _, told = readZone(text)
	return orLocal(zone), told, zone != nil || !told
}

func orLocal(zone *time.Location) *time.Location {
	if zone == nil {
		return time.Local
	}
	return zone
}

// readZone reads the zone that a text begins with; read is what it read. named is false
// where the text begins with something else. zone is nil if it is not known.
func readZone(text string) (zone *time.Location, read string, named bool) {
	if m := zoneOffset.FindStringSubmatchIndex(text); m != nil {
		hours, _ := strconv.Atoi(text[m[4]:m[5]])
		seconds, end := hours*3600, m[5]
		if m[6] >= 0 {
			minutes, _ := strconv.Atoi(text[m[6]:m[7]])
			seconds, end = seconds+minutes*60, m[7]
		}
		if text[m[2]:m[3]] == "-" {
			seconds = -seconds
		}
		if hours > 14 {
			return nil, text[:end], true
		}
		return time.FixedZone(text[:end], seconds), text[:end], true
	}
	if name := zoneName.FindString(text); name != "" {
		zone, err := time.LoadLocation(name)
		if err != nil {
			return nil, name, true
		}
		return zone, name, true
	}
	m := zoneWord.FindStringSubmatch(text)
	if m == nil {
		return nil, "", false
	}
	word, upper := m[1], strings.ToUpper(m[1])
	hours, isZone := zones[upper]
	place, isPlace := places[upper]
	short := len(word) < 3 && word != upper // "et" is a word
	switch {
	case short:
	case isZone:
		return time.FixedZone(upper, int(hours*3600)), m[0], true
	case isPlace:
		zone, err := time.LoadLocation(place)
		if err != nil { // the machine has no zone data
			return nil, m[0], true
		}
		return zone, m[0], true
	case m[2] != "" && (upper == "LOCAL" || upper == "YOUR"):
		return time.Local, m[0], true
	case m[2] != "", abbreviated.MatchString(word):
		return nil, m[0], true
	}
	return nil, "", false
}

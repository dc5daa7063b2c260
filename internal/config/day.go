package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Day are the limits of a day: those of [limits] in ferrus.toml for a project, and those of a person's own configuration for all their projects
// together. 0 means no limit. They are never frozen with a task.
type Day struct {
	Minutes int    `toml:"max_day_minutes"`
	Tokens  int    `toml:"max_day_tokens"`
	Dollars int    `toml:"max_day_dollars"`
	Zone    string `toml:"day_zone"` // an IANA name; "" for the local one
}

// None reports whether nothing is limited.
func (d Day) None() bool { return d.Minutes == 0 && d.Tokens == 0 && d.Dollars == 0 }

// Location returns the zone in which the days begin.
func (d Day) Location() (*time.Location, error) {
	if d.Zone == "" {
		return time.Local, nil
	}
	at, err := time.LoadLocation(d.Zone)
	if err != nil {
		return nil, fmt.Errorf("there is no time zone %s; zones are named as in Europe/Berlin or UTC", kind(d.Zone))
	}
	return at, nil
}

// Stricter returns the lower of each limit, with the zone of d.
func (d Day) Stricter(than Day) Day {
	for _, both := range [][2]*int{{&d.Minutes, &than.Minutes}, {&d.Tokens, &than.Tokens}, {&d.Dollars, &than.Dollars}} {
		if is, other := both[0], *both[1]; *is == 0 || other > 0 && other < *is {
			*is = other
		}
	}
	return d
}

// DayOf returns the limits of literal values, as a person agreed to them, by their keys; 0 for a key without one.
func DayOf(value func(key string) string) Day {
	var c Config
	for _, k := range keys {
		if n, ok := k.field(&c).(*int); ok && k.day() {
			*n, _ = strconv.Atoi(value(k.name))
		}
	}
	return c.Day
}

// day reports whether the key is one of the limits of a day.
func (k key) day() bool { return strings.HasPrefix(k.name, "limits.max_day_") }

// checkDay returns an error for a limit of a person's own configuration that has no meaning.
func (p *Person) checkDay() error {
	for _, k := range keys {
		if n, ok := k.field(&Config{Day: p.Day}).(*int); ok && k.day() {
			if least, most := k.bounds(); *n < least || *n > most {
				return fmt.Errorf("%s: [limits] %s must be %s, not %d", p.Path, k.last(), k.allowed(), *n)
			}
		}
	}
	if _, err := p.Day.Location(); err != nil {
		return fmt.Errorf("%s: [limits] day_zone: %w", p.Path, err)
	}
	return nil
}

package cli

import (
	"fmt"
	"net/http"
	"net/url"
)

// Address parses an http or https address that a person names.
func Address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%q is no http or https address", text)
	}
	return u, nil
}

// HTTPClient returns a client for the address that a person knows, and for no other: it follows no redirect.
func HTTPClient() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

package main

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
)

// Fetches an address over TLS, and trusts the authority in a file, or those of the system.
func main() {
	if len(os.Args) == 2 {
		fetch(&http.Client{})
		return
	}
	authority, err := os.ReadFile(os.Args[2])
	if err != nil {
		panic(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	fetch(&http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}})
}

func fetch(client *http.Client) {
	answer, err := client.Get(os.Args[1])
	if err != nil {
		panic(err)
	}
	io.Copy(os.Stdout, answer.Body)
}

package main

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
)

// Fetches an address over TLS, and trusts the authority in a file.
func main() {
	authority, err := os.ReadFile(os.Args[2])
	if err != nil {
		panic(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	answer, err := client.Get(os.Args[1])
	if err != nil {
		panic(err)
	}
	io.Copy(os.Stdout, answer.Body)
}

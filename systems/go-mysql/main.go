// Command go-mysql is a small server of the MySQL protocol for the tests of dyno's logins: it lets
// users in by the methods that MariaDB does not have, with TLS and without, and answers SELECT.
//
// Usage: go-mysql FOLDER
//
// It writes ca.pem and public_key.pem to FOLDER, prints one line for each address that it listens on,
// and ends when its standard input does.
package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/go-mysql-org/go-mysql/server"
)

// The password of every user whose name does not end in _empty.
const password = "hors3 & carr1age"

// What the server says that it is.
const version = "8.0.40-go-mysql"

// A user of each name, and one with _empty behind it who has no password.
var methods = map[string]string{
	"native":  mysql.AUTH_NATIVE_PASSWORD,
	"caching": mysql.AUTH_CACHING_SHA2_PASSWORD,
	"sha256":  mysql.AUTH_SHA256_PASSWORD,
	"clear":   mysql.AUTH_CLEAR_PASSWORD,
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go-mysql FOLDER")
	}
	// A refused login is what most tests are about, so it is nothing to report.
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err := run(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(folder string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	authority, err := newAuthority()
	if err != nil {
		return err
	}
	certificate, err := authority.certify("localhost")
	if err != nil {
		return err
	}
	if err := writePublicKey(filepath.Join(folder, "public_key.pem"), &key.PublicKey); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "ca.pem"), authority.pem(), 0o644); err != nil {
		return err
	}
	users, err := allUsers()
	if err != nil {
		return err
	}
	secure := &tls.Config{Certificates: []tls.Certificate{certificate}}
	// The name of the address, the method of the greeting, and what TLS is offered with.
	for _, place := range []struct {
		name, method string
		secure       *tls.Config
	}{
		{"tls", mysql.AUTH_CACHING_SHA2_PASSWORD, secure},
		{"plain", mysql.AUTH_CACHING_SHA2_PASSWORD, nil},
		{"native", mysql.AUTH_NATIVE_PASSWORD, secure},
	} {
		provider := &provider{}
		conf := server.NewServerWithAuth(
			version, mysql.DEFAULT_COLLATION_ID, place.method, key, place.secure, provider)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		fmt.Printf("%s %s\n", place.name, listener.Addr())
		go accept(listener, conf, users)
	}
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func allUsers() (*server.InMemoryAuthenticationHandler, error) {
	users := server.NewInMemoryAuthenticationHandler()
	for name, method := range methods {
		if err := users.AddUser(name, password, method); err != nil {
			return nil, err
		}
		if err := users.AddUser(name+"_empty", "", method); err != nil {
			return nil, err
		}
	}
	return users, nil
}

func accept(listener net.Listener, conf *server.Server, users server.AuthenticationHandler) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go serve(conn, conf, users)
	}
}

func serve(conn net.Conn, conf *server.Server, users server.AuthenticationHandler) {
	defer conn.Close()
	session, err := conf.NewCustomizedConn(conn, users, answers{})
	if err != nil {
		return
	}
	for session.HandleCommand() == nil {
		if session.Closed() {
			return
		}
	}
}

// provider knows mysql_clear_password beside the library's methods.
type provider struct {
	server.DefaultAuthenticationProvider
}

func (p *provider) Authenticate(c *server.Conn, method string, proof []byte) error {
	due := password
	if strings.HasSuffix(c.GetUser(), "_empty") {
		due = ""
	}
	switch {
	case method == mysql.AUTH_CLEAR_PASSWORD:
		if strings.TrimSuffix(string(proof), "\x00") != due {
			return server.ErrAccessDenied
		}
		return nil
	case method == mysql.AUTH_NATIVE_PASSWORD && due == "" && len(proof) > 0:
		// The library (v1.16.0) panics when such a user proves a password.
		return server.ErrAccessDenied
	}
	return p.DefaultAuthenticationProvider.Authenticate(c, method, proof)
}

// answers says 1 to every SELECT and fails all else.
type answers struct {
	server.EmptyHandler
}

func (answers) UseDB(string) error { return nil }

func (answers) HandleQuery(query string) (*mysql.Result, error) {
	// The library's first answer says that autocommit is off, so that clients turn it on.
	if strings.HasPrefix(strings.ToUpper(query), "SET AUTOCOMMIT") {
		return &mysql.Result{}, nil
	}
	if !strings.HasPrefix(strings.ToUpper(query), "SELECT") {
		return nil, mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, "only SELECT and SET autocommit are answered here")
	}
	rows, err := mysql.BuildSimpleTextResultset([]string{"1"}, [][]any{{1}})
	if err != nil {
		return nil, err
	}
	return mysql.NewResult(rows), nil
}

// Package storetest is what every store is held to.
package storetest

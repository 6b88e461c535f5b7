// Package conditions writes what reconcilers say in status conditions and events: in
// the length that the API takes, and with the time since when something has been so.
package conditions

package s3

import (
	"io"
	"net/http"
)

// cutKey is where a request says after how many bytes its answer breaks off.
type cutKey struct{}

func cut(answer *http.Response) error {
	if n, _ := answer.Request.Context().Value(cutKey{}).(int64); n > 0 {
		answer.Body = &cutBody{answer.Body, n}
	}
	return nil
}

// cutBody fails in the middle.
type cutBody struct {
	io.ReadCloser
	left int64
}

func (c *cutBody) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := c.ReadCloser.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

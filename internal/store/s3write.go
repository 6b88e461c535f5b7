package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

const (
	// partSize is that of an upload's parts, in bytes, and what an upload needs of memory:
	// its parts go one after the other. The protocol has at most maxParts.
	partSize = 8 << 20
	maxParts = 10000
	// abortTimeout bounds the cleaning up after an upload that failed.
	abortTimeout = time.Minute
)

// Put sends what is short at once, else in parts. It does so by plain calls: the
// client's own manager of transfers holds three times the memory, hides why an upload
// failed behind a failing abort, and takes one for failed whose answer was lost.
func (b *bucket) Put(ctx context.Context, name string, r io.Reader) (Info, error) {
	if err := checkName(name); err != nil {
		return Info{}, err
	}
	info, err := b.put(ctx, name, r)
	if err != nil {
		return Info{}, fmt.Errorf("put object %s: %w", name, err)
	}
	return info, nil
}

func (b *bucket) put(ctx context.Context, name string, r io.Reader) (Info, error) {
	part := make([]byte, partSize)
	n, end, err := fill(r, part)
	switch {
	case err != nil:
		return Info{}, err
	case end:
		out, err := b.api.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.bucket, Key: b.key(name), Body: bytes.NewReader(part[:n])})
		if err != nil {
			return Info{}, b.classify(err)
		}
		return Info{Name: name, Size: int64(n), Version: Version(aws.ToString(out.ETag))}, nil
	}
	u := &upload{bucket: b, name: name, nonce: nonce(), buffer: part}
	return u.run(ctx, r)
}

// fill reads until the buffer is full, or the source at its end. Unlike io.ReadFull it takes
// io.EOF alone for that: an io.ErrUnexpectedEOF of the source says that it was cut off.
func fill(r io.Reader, buffer []byte) (n int, end bool, err error) {
	for n < len(buffer) {
		more, err := r.Read(buffer[n:])
		n += more
		if err == io.EOF { // it is never wrapped where it is the end
			return n, true, nil
		}
		if err != nil {
			return n, false, err
		}
	}
	return n, false, nil
}

// upload is an object that is sent in parts.
type upload struct {
	bucket *bucket
	name   string
	nonce  string
	id     *string
	buffer []byte
	parts  []types.CompletedPart
	size   int64
}

// run begins with a full buffer.
func (u *upload) run(ctx context.Context, r io.Reader) (info Info, err error) {
	b := u.bucket
	out, err := b.api.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: &b.bucket, Key: b.key(u.name), Metadata: map[string]string{metaPut: u.nonce},
	})
	if err != nil {
		return Info{}, fmt.Errorf("begin: %w", b.classify(err))
	}
	u.id = out.UploadId
	if err := u.send(ctx, r); err != nil {
		return Info{}, errors.Join(err, u.abort(ctx))
	}
	return u.complete(ctx)
}

func (u *upload) send(ctx context.Context, r io.Reader) error {
	for n := len(u.buffer); n > 0; {
		if err := u.part(ctx, u.buffer[:n]); err != nil {
			return err
		}
		var err error
		if n, _, err = fill(r, u.buffer); err != nil {
			return err
		}
	}
	return nil
}

func (u *upload) part(ctx context.Context, content []byte) error {
	number := int32(len(u.parts) + 1)
	if number > maxParts {
		return fmt.Errorf("it has more than %d bytes", int64(partSize)*maxParts)
	}
	b := u.bucket
	out, err := b.api.UploadPart(ctx, &s3.UploadPartInput{
		Bucket: &b.bucket, Key: b.key(u.name), UploadId: u.id, PartNumber: &number, Body: bytes.NewReader(content),
	})
	if err != nil {
		return fmt.Errorf("send part %d: %w", number, b.classify(err))
	}
	u.parts = append(u.parts, types.CompletedPart{PartNumber: &number, ETag: out.ETag})
	u.size += int64(len(content))
	return nil
}

// complete makes the object visible. If the answer is lost, the object says who put it.
func (u *upload) complete(ctx context.Context) (Info, error) {
	b := u.bucket
	_, err := b.api.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: &b.bucket, Key: b.key(u.name), UploadId: u.id, MultipartUpload: &types.CompletedMultipartUpload{Parts: u.parts},
	})
	info, by, seen := b.stat(ctx, u.name)
	if seen == nil && by == u.nonce {
		return info, nil
	}
	if err == nil {
		return Info{}, fmt.Errorf("complete: it is not there: %w", seenError(seen))
	}
	return Info{}, errors.Join(fmt.Errorf("complete: %w", b.classify(err)), u.abort(ctx))
}

func seenError(err error) error {
	if err == nil {
		return fmt.Errorf("%w: another one is", ErrChanged)
	}
	return err
}

// abort frees what was sent; also when the caller has given up.
func (u *upload) abort(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTimeout)
	defer cancel()
	return u.bucket.abort(ctx, u.bucket.key(u.name), u.id)
}

func (b *bucket) abort(ctx context.Context, key, id *string) error {
	_, err := b.api.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &b.bucket, Key: key, UploadId: id})
	if err = b.classify(err); err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("abort the upload: %w", err)
	}
	return nil
}

// Sweep aborts uploads whose writers died.
func (b *bucket) Sweep(ctx context.Context, before time.Time) error {
	pages := s3.NewListMultipartUploadsPaginator(b.api, &s3.ListMultipartUploadsInput{Bucket: &b.bucket, Prefix: &b.prefix})
	var errs []error
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			errs = append(errs, b.classify(err))
			break
		}
		for _, u := range page.Uploads {
			if checkName(trimPrefix(u.Key, b.prefix)) == nil && aws.ToTime(u.Initiated).Before(before) {
				errs = append(errs, b.abort(ctx, u.Key, u.UploadId))
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	return nil
}

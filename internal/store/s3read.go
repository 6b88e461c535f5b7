package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

func (b *bucket) Stat(ctx context.Context, name string) (Info, error) {
	info, _, err := b.stat(ctx, name)
	if err != nil {
		return Info{}, fmt.Errorf("stat object %s: %w", name, err)
	}
	return info, nil
}

// stat answers who put the object, too. A HEAD has no room for the reason of a 404: it is
// asked for in another way.
func (b *bucket) stat(ctx context.Context, name string) (Info, string, error) {
	if err := checkName(name); err != nil {
		return Info{}, "", err
	}
	out, err := b.api.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.bucket, Key: b.key(name)})
	if err = b.classify(err); errors.Is(err, ErrNotFound) {
		_, why := b.api.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &b.bucket, Prefix: b.key(name), MaxKeys: aws.Int32(1)})
		if why = b.classify(why); why != nil {
			err = why
		}
	}
	if err != nil {
		return Info{}, "", err
	}
	return infoOf(name, out.ContentLength, out.LastModified, out.ETag), out.Metadata[metaPut], nil
}

func infoOf(name string, size *int64, at *time.Time, tag *string) Info {
	return Info{Name: name, Size: aws.ToInt64(size), Modified: aws.ToTime(at), Version: Version(aws.ToString(tag))}
}

func (b *bucket) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	pages := s3.NewListObjectsV2Paginator(b.api, &s3.ListObjectsV2Input{
		Bucket: &b.bucket, Prefix: aws.String(b.prefix + prefix), Delimiter: aws.String("/"),
	})
	return func(yield func(Info, error) bool) {
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(Info{}, fmt.Errorf("list objects: %w", b.classify(err)))
				return
			}
			for _, o := range page.Contents {
				info := infoOf(trimPrefix(o.Key, b.prefix), o.Size, o.LastModified, o.ETag)
				if checkName(info.Name) == nil && !yield(info, nil) {
					return
				}
			}
		}
	}
}

func (b *bucket) Get(ctx context.Context, name string) (io.ReadCloser, Info, error) {
	if err := checkName(name); err != nil {
		return nil, Info{}, err
	}
	out, err := b.api.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.bucket, Key: b.key(name)})
	if err != nil {
		return nil, Info{}, fmt.Errorf("get object %s: %w", name, b.classify(err))
	}
	info := infoOf(name, out.ContentLength, out.LastModified, out.ETag)
	return &download{ctx: ctx, bucket: b, info: info, body: out.Body}, info, nil
}

// download goes on where a connection broke, with the very object that it began with.
type download struct {
	ctx     context.Context
	bucket  *bucket
	info    Info
	body    io.ReadCloser
	read    int64
	resumed int
}

// maxResumes bounds how often a download goes on, and firstPause the wait before the
// first time; it doubles.
const (
	maxResumes = 10
	firstPause = 100 * time.Millisecond
)

func (d *download) Read(p []byte) (int, error) {
	for {
		n, err := d.body.Read(p)
		d.read += int64(n)
		switch {
		case err == io.EOF && d.read < d.info.Size:
			err = io.ErrUnexpectedEOF
		case err == nil, err == io.EOF:
			return n, err
		}
		if err := d.resume(err); err != nil {
			return n, fmt.Errorf("read object %s at byte %d of %d: %w", d.info.Name, d.read, d.info.Size, err)
		}
		if n > 0 {
			return n, nil
		}
	}
}

// resume asks for the rest. Why it must is what is told if it cannot.
func (d *download) resume(why error) error {
	if d.resumed == maxResumes || d.ctx.Err() != nil {
		return d.bucket.unanswered(errors.Join(why, d.ctx.Err()))
	}
	select {
	case <-time.After(min(firstPause<<d.resumed, d.bucket.options.Backoff)):
	case <-d.ctx.Done():
		return d.bucket.unanswered(d.ctx.Err())
	}
	d.resumed++
	_ = d.body.Close() // it is broken
	out, err := d.bucket.api.GetObject(d.ctx, &s3.GetObjectInput{
		Bucket: &d.bucket.bucket, Key: d.bucket.key(d.info.Name),
		Range: aws.String(fmt.Sprintf("bytes=%d-", d.read)), IfMatch: aws.String(string(d.info.Version)),
	})
	if err != nil {
		return changed(d.bucket.classify(err), ErrChanged)
	}
	if got := d.read + aws.ToInt64(out.ContentLength); got != d.info.Size {
		return errors.Join(fmt.Errorf("%w: it ends at byte %d now", ErrChanged, got), out.Body.Close())
	}
	d.body = out.Body
	return nil
}

func (d *download) Close() error { return d.body.Close() }

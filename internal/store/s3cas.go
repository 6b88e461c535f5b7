package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
)

func (b *bucket) Create(ctx context.Context, name string, data []byte) (Version, error) {
	v, err := b.write(ctx, name, data, &s3.PutObjectInput{IfNoneMatch: aws.String("*")})
	if err != nil {
		return "", fmt.Errorf("create object %s: %w", name, changed(err, ErrExists))
	}
	return v, nil
}

func (b *bucket) Replace(ctx context.Context, name string, data []byte, v Version) (Version, error) {
	after, err := b.write(ctx, name, data, &s3.PutObjectInput{IfMatch: aws.String(string(v))})
	if err != nil {
		return "", fmt.Errorf("replace object %s: %w", name, changed(err, ErrChanged))
	}
	return after, nil
}

// changed says what it means that a condition did not hold.
func changed(err, meaning error) error {
	if errors.Is(err, errCondition) {
		return fmt.Errorf("%w (%w)", meaning, err)
	}
	return err
}

// write writes on condition. The condition fails too when an answer was lost and the
// call repeated: the object tells whether it is ours.
func (b *bucket) write(ctx context.Context, name string, data []byte, in *s3.PutObjectInput) (Version, error) {
	if err := errors.Join(checkName(name), checkSmall(name, data)); err != nil {
		return "", err
	}
	own := nonce()
	in.Bucket, in.Key, in.Body, in.Metadata = &b.bucket, b.key(name), bytes.NewReader(data), map[string]string{metaPut: own}
	out, err := b.api.PutObject(ctx, in)
	if err == nil {
		return Version(aws.ToString(out.ETag)), nil
	}
	if err = b.classify(err); errors.Is(err, errCondition) {
		if info, by, seen := b.stat(ctx, name); seen == nil && by == own {
			return info.Version, nil
		}
	}
	return "", err
}

// Remove looks first: not every store holds to a condition on deletes.
func (b *bucket) Remove(ctx context.Context, name string, v Version) error {
	info, err := b.Stat(ctx, name)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("remove object %s: %w", name, err)
	case info.Version != v:
		return fmt.Errorf("remove object %s: %w", name, ErrChanged)
	}
	err = b.delete(ctx, name, aws.String(string(v)))
	var said smithy.APIError
	if errors.As(err, &said) && said.ErrorCode() == codeNotImplemented {
		err = b.delete(ctx, name, nil)
	}
	return changed(err, ErrChanged)
}

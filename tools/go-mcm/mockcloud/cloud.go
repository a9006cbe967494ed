// Package mockcloud is a driver of MCM for the simulated cloud (providers/mock).
package mockcloud

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/status"
)

// vm is what the driver reads of a VM; providers/mock/src/vm.ts has all of it.
type vm struct {
	ID         string            `json:"id"`
	ProviderID string            `json:"providerId"`
	NodeName   string            `json:"nodeName"`
	State      string            `json:"state"`
	Tags       map[string]string `json:"tags"`
}

// isLive is false for a VM that is deleted, or is being deleted.
func (v vm) isLive() bool { return v.exists() && v.State != "terminating" }

// exists is false for a VM that is deleted.
func (v vm) exists() bool { return v.State != "terminated" }

// cloud is a client of the simulated cloud's server; its README lists the requests.
type cloud struct{ endpoint, token string }

// maxAnswer is the longest answer that is read, bytes.
const maxAnswer = 16 << 20

// codesByStatus is for answers of others than the cloud, such as proxies.
var codesByStatus = map[int]codes.Code{
	http.StatusUnauthorized:    codes.Unauthenticated,
	http.StatusForbidden:       codes.PermissionDenied,
	http.StatusTooManyRequests: codes.ResourceExhausted,
}

type answer struct {
	VM    vm   `json:"vm"`
	VMs   []vm `json:"vms"`
	Error *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

var client = http.Client{Timeout: 10 * time.Second}

// request fails with the code of the cloud, whose codes are those of MCM's driver contract.
func (c cloud) request(ctx context.Context, method, path string, body any) (answer, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return answer{}, status.Error(codes.Internal, err.Error())
	}
	request, err := http.NewRequestWithContext(ctx, method, c.endpoint+path, bytes.NewReader(text))
	if err != nil {
		return answer{}, status.Error(codes.Internal, err.Error())
	}
	request.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	if body == nil {
		request.Body, request.ContentLength = http.NoBody, 0
	}
	response, err := client.Do(request)
	if err != nil {
		return answer{}, status.Error(codes.Unavailable, err.Error())
	}
	defer response.Body.Close()
	var parsed answer
	err = json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(&parsed)
	if err == nil && parsed.Error != nil {
		return answer{}, status.Error(codes.StringToCode(parsed.Error.Code), parsed.Error.Message)
	}
	if code, isKnown := codesByStatus[response.StatusCode]; isKnown {
		return answer{}, status.Error(code, fmt.Sprintf("%s %s: status %d", method, path, response.StatusCode))
	}
	if err != nil || response.StatusCode >= http.StatusMultipleChoices {
		return answer{}, status.Error(codes.Unavailable, fmt.Sprintf("%s %s: status %d, error %v", method, path, response.StatusCode, err))
	}
	return parsed, nil
}

// list returns the VMs that have all of these tags.
func (c cloud) list(ctx context.Context, tags map[string]string) ([]vm, error) {
	filter, err := json.Marshal(map[string]any{"tags": tags})
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	found, err := c.request(ctx, http.MethodGet, "/v1/vms?filter="+url.QueryEscape(string(filter)), nil)
	return found.VMs, err
}

func (c cloud) create(ctx context.Context, body map[string]any) (vm, error) {
	created, err := c.request(ctx, http.MethodPost, "/v1/vms", body)
	return created.VM, err
}

func (c cloud) delete(ctx context.Context, id string) error {
	_, err := c.request(ctx, http.MethodDelete, "/v1/vms/"+url.PathEscape(id), nil)
	return err
}

func (c cloud) tag(ctx context.Context, id string, tags map[string]string) error {
	_, err := c.request(ctx, http.MethodPatch, "/v1/vms/"+url.PathEscape(id)+"/tags", map[string]any{"tags": tags})
	return err
}

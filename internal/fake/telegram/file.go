package telegram

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// maxDownload is the largest file that Telegram gives to a bot.
const maxDownload = 20 << 20

// linkLife is how long the address of a file can be used.
const linkLife = time.Hour

// upload is a file of a person's message.
type upload struct {
	path   string
	data   []byte
	size   int64     // as it is told; 0 = that of data
	linked time.Time // when getFile gave its address last
}

// keep makes a file available to the bot and returns its fields. The caller holds
// s.mu.
func (s *Server) keep(id, folder, ext string, data []byte, size int64) map[string]any {
	if size == 0 {
		size = int64(len(data))
	}
	if s.uploads[id] == nil {
		s.uploads[id] = &upload{path: fmt.Sprintf("%s/file_%d.%s", folder, len(s.uploads), ext)}
	}
	s.uploads[id].data, s.uploads[id].size = data, size
	return map[string]any{"file_id": id, "file_unique_id": "u" + id, "file_size": size}
}

// photoSizes keeps a photo in the sizes that Telegram makes of it, the smallest first.
// The caller holds s.mu.
func (s *Server) photoSizes(id string, f *File) []map[string]any {
	thumb := s.keep(id+"s", "thumbnails", "jpg", []byte("\xff\xd8\xff thumbnail"), 0)
	thumb["width"], thumb["height"] = 90, 67
	whole := s.keep(id, "photos", "jpg", f.Data, f.Size)
	whole["width"], whole["height"] = 1280, 960
	return []map[string]any{thumb, whole}
}

// getFile gives the address of a file. The caller holds s.mu.
func (s *Server) getFile(c call) methodResult {
	f := s.uploads[c.params["file_id"]]
	switch {
	case f == nil:
		return bad("wrong file_id or the file is temporarily unavailable")
	case f.size > maxDownload:
		return bad("file is too big")
	}
	f.linked = s.o.Clock()
	return ok(map[string]any{"file_id": c.params["file_id"], "file_unique_id": "u" + c.params["file_id"], "file_size": f.size, "file_path": f.path})
}

// serveFile sends the bytes of a file whose address getFile gave in the last hour.
// Faults of "file" are its.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	token, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/file/bot"), "/")
	if token != s.o.Token || r.Method != http.MethodGet {
		write(w, methodResult{code: 401, text: "Unauthorized"})
		return
	}
	c := call{ctx: r.Context(), params: map[string]string{"path": path}}
	if f := s.nextFault("file"); f != nil {
		s.fail(w, r, "file", c, *f)
		return
	}
	s.mu.Lock()
	var data []byte
	for _, f := range s.uploads {
		if f.path == path && s.o.Clock().Sub(f.linked) < linkLife {
			data = f.data
		}
	}
	s.mu.Unlock()
	if data == nil {
		s.record("file", c, write(w, methodResult{code: 404, text: "Not Found"}))
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(data) // the caller may be gone
	s.record("file", c, http.StatusOK)
}

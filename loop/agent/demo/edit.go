package demo

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// read returns a file of the work folder, or nil.
func (s *session) read(name string) ([]byte, error) {
	data, err := s.root.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	return data, nil
}

// write gives a file the content and mode. A file that has them already does
// not count as changed.
func (s *session) write(f file) error {
	old, err := s.read(f.path)
	if err != nil {
		return err
	}
	if old != nil && bytes.Equal(old, f.data) {
		if fi, err := s.root.Stat(f.path); err == nil && fi.Mode()&0o100 == f.mode&0o100 {
			return nil
		}
	}
	if err := s.root.MkdirAll(path.Dir(f.path), 0o755); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if err := s.root.WriteFile(f.path, f.data, f.mode); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if err := s.root.Chmod(f.path, f.mode); err != nil { // an old file keeps its mode
		return fmt.Errorf("write: %w", err)
	}
	s.note("write", f.path)
	return nil
}

// writeAct writes the files of one act of the script.
func (s *session) writeAct(act string) error {
	files, err := filesOf("script/" + act)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := s.write(f); err != nil {
			return err
		}
	}
	return nil
}

// restore resets files to their first version in the sample repository.
func (s *session) restore(names ...string) error {
	for _, name := range names {
		data := sampleFile(name)
		if err := s.write(file{path: name, data: data, mode: modeOf(data)}); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes files. A missing file is no error.
func (s *session) remove(names ...string) error {
	for _, name := range names {
		err := s.root.Remove(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("remove: %w", err)
		}
		s.note("remove", name)
	}
	return nil
}

// addLine appends a line to a text file unless the file contains it. A new file
// starts with the heading.
func (s *session) addLine(name, heading, line string) error {
	old, err := s.read(name)
	if err != nil {
		return err
	}
	if slices.Contains(strings.Split(string(old), "\n"), line) {
		return nil
	}
	text := string(old)
	if old == nil {
		text = heading + "\n\n"
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	mode := fs.FileMode(0o644)
	if fi, err := s.root.Stat(name); err == nil {
		mode = fi.Mode().Perm()
	}
	return s.write(file{path: name, data: []byte(text + line + "\n"), mode: mode})
}

func (s *session) note(verb, name string) {
	s.printf("%s %s", verb, name)
	if !slices.Contains(s.changed, name) {
		s.changed = append(s.changed, name)
	}
}

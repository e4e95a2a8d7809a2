package daemon

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
)

// TryTranscribe has the program of the configuration turn a second of silence into words,
// as it is started for a voice note: a session without an agent, in a state folder that
// is removed afterwards. It returns what the program printed.
func TryTranscribe(ctx context.Context, o Options) (words string, err error) {
	if o.State, err = os.MkdirTemp("", "nightporter-"); err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(o.State) }() // it has nothing but an empty ledger
	d := New(o)
	if err := d.Start(ctx); err != nil {
		return "", err
	}
	defer d.Stop()
	return d.transcribe(ctx, "v0", "audio/ogg", silence())
}

// silence returns a second of silence as Telegram's voice notes are: Opus in Ogg, by
// RFC 7845. Three bytes are a frame of 20 ms that RFC 6716 says is silent.
func silence() []byte {
	const frames, serial = 50, 0x6e70
	head := append([]byte("OpusHead\x01\x01"), 0, 0, 0x80, 0xbb, 0, 0, 0, 0, 0) // mono, 48 kHz
	tags := append([]byte("OpusTags"), 2, 0, 0, 0, 'n', 'p', 0, 0, 0, 0)
	frame := []byte{0xf8, 0xff, 0xfe}
	out := oggPage(2, 0, serial, 0, [][]byte{head})
	out = append(out, oggPage(0, 0, serial, 1, [][]byte{tags})...)
	packets := make([][]byte, frames)
	for n := range packets {
		packets[n] = frame
	}
	return append(out, oggPage(4, frames*960, serial, 2, packets)...)
}

// oggPage returns a page of packets that are shorter than 255 bytes (RFC 3533).
func oggPage(kind byte, position uint64, serial, number uint32, packets [][]byte) []byte {
	const sum = 22 // where the checksum stands
	b := append([]byte("OggS\x00"), kind)
	b = binary.LittleEndian.AppendUint64(b, position)
	b = binary.LittleEndian.AppendUint32(b, serial)
	b = binary.LittleEndian.AppendUint32(b, number)
	b = append(b, 0, 0, 0, 0, byte(len(packets)))
	for _, p := range packets {
		b = append(b, byte(len(p)))
	}
	b = append(b, bytes.Join(packets, nil)...)
	binary.LittleEndian.PutUint32(b[sum:], oggSum(b))
	return b
}

// oggSum is Ogg's checksum: a CRC-32 that, unlike that of hash/crc32, reflects no bits.
func oggSum(data []byte) (sum uint32) {
	const polynomial = 0x04c11db7
	for _, b := range data {
		sum ^= uint32(b) << 24
		for range 8 {
			top := sum>>31 == 1
			if sum <<= 1; top {
				sum ^= polynomial
			}
		}
	}
	return sum
}

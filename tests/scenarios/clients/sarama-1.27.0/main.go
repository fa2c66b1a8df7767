// Produces to every partition of a topic until it is told to stop: PRODUCER BROKERS TOPIC PARTITIONS.
//
// Standard output gets a line for each record: the partition, and "ok" or the error. It ends when standard input does.
package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/Shopify/sarama"
)

func main() {
	config := sarama.NewConfig()
	config.ClientID = "sarama-1.27.0"
	config.Version = sarama.V1_0_0_0
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Producer.RequiredAcks = sarama.WaitForLocal
	config.Producer.Return.Successes = true
	partitions, err := strconv.Atoi(os.Args[3])
	if err != nil {
		panic(err)
	}
	producer, err := sarama.NewAsyncProducer(strings.Split(os.Args[1], ","), config)
	if err != nil {
		panic(err)
	}
	go func() {
		for one := range producer.Successes() {
			fmt.Printf("%d ok\n", one.Partition)
		}
	}()
	go func() {
		for one := range producer.Errors() {
			fmt.Printf("%d %s\n", one.Msg.Partition, one.Err)
		}
	}()
	ended := make(chan bool)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	tick := time.NewTicker(200 * time.Millisecond)
	for {
		select {
		case <-tick.C:
			for partition := 0; partition < partitions; partition++ {
				producer.Input() <- &sarama.ProducerMessage{
					Topic: os.Args[2], Partition: int32(partition), Value: sarama.StringEncoder("record"),
				}
			}
		case <-ended:
			return
		}
	}
}
